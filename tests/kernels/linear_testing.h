// What the tests of Linear ask of its cases.
#pragma once

#include "kernels/half.h"
#include "kernels/lab/linear_case.h"
#include "tests/kernels/row_testing.h"

namespace orrery::kernels::testing {

using SegmentSpec = lab::LinearCase::Segment;

/// A case whose rows of dst lie apart, so that what is written between them shows.
inline lab::LinearCase linear_case(int64_t tokens, int64_t cols, const std::vector<SegmentSpec>& segments,
                                   Epilogue epilogue = Epilogue::none,
                                   Precision precision = Precision::balanced) {
  lab::LinearCase c(tokens, cols, segments, epilogue, precision);
  c.dst_gap = 3;
  return c;
}

/// The case with other activations, in the place of all of its tokens or fewer.
inline lab::LinearCase with_src(const lab::LinearCase& c, std::vector<float> src) {
  lab::LinearCase other = c;
  other.src = std::move(src);
  return other;
}

/// dst of each output, and last what lies between their rows.
inline std::vector<std::vector<float>> values_of(const std::vector<lab::Output>& outputs) {
  std::vector<std::vector<float>> values;
  for (const lab::Output& output : outputs) values.push_back(output.values);
  return values;
}

}  // namespace orrery::kernels::testing
