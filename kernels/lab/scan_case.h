// CausalConvolution and SelectiveScan over made-up sequences, whose records lie in pages.
#pragma once

#include "kernels/lab/inputs.h"
#include "kernels/lab/op_case.h"
#include "kernels/scan.h"

namespace orrery::kernels::lab {

/// A step of several sequences. What a sequence holds at a position is the same for a seed whatever the step
/// brings.
struct ScanShape {
  int64_t channels = 7, states = 16, kernel = 4, page_tokens = 32;
  bool bias = true;  // of the convolution
  /// Which positions of a sequence the step brings: [end - tokens, end).
  struct Part {
    int64_t tokens = 1, end = 1;
  };
  std::vector<Part> parts = {{}};
  int64_t text = 0;  // positions of each sequence that are made up; 0: up to the largest end
  uint32_t seed = 11;

  int64_t tokens() const;
  int64_t positions() const;
  int64_t pages() const;  // of a sequence
};

/// Pages in a random order, each with a record of `floats`.
class RecordPages {
 public:
  /// `held`: what all pages hold before the step; empty: random numbers.
  RecordPages(const ScanShape& shape, int64_t floats, std::vector<float> held);

  struct Placed {
    Ragged ragged;
    PagedRecord record;
    float* memory;
  };
  Placed place(Place& place) const;
  /// Everything that the pages hold.
  Output read(Place& from, const float* memory) const;
  int64_t floats() const { return floats_; }

 private:
  int64_t page_tokens_, pages_, floats_;
  std::vector<int32_t> starts_{0}, lengths_, table_;
  std::vector<float> held_;
};

class ConvolutionCase {
 public:
  using Op = CausalConvolution;
  explicit ConvolutionCase(const ScanShape& shape, std::vector<float> held = {});

  /// dst, then the records of all pages.
  Call<CausalConvolution> place(const Row<CausalConvolution>& row, Place& place) const;
  std::vector<Expected> expected(const Roundings& roundings) const;
  Work work() const;

  CausalConvolution::Problem problem;

 private:
  ScanShape shape_;
  RecordPages pages_;
  std::vector<float> src_, weight_, bias_;
};

class ScanCase {
 public:
  using Op = SelectiveScan;
  explicit ScanCase(const ScanShape& shape, std::vector<float> held = {});

  /// dst, then the records of all pages.
  Call<SelectiveScan> place(const Row<SelectiveScan>& row, Place& place) const;
  std::vector<Expected> expected(const Roundings& roundings) const;
  Work work() const;

  SelectiveScan::Problem problem;

 private:
  ScanShape shape_;
  RecordPages pages_;
  std::vector<float> src_, delta_, b_, c_, a_, d_;
};

}  // namespace orrery::kernels::lab
