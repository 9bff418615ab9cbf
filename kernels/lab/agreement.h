// Whether what a row wrote is what the oracle says.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernels/dtype.h"

namespace orrery::kernels::lab {

/// What a call wrote: rows of `cols` numbers. Integers and bytes are numbers too.
struct Output {
  std::string_view name;  // "dst"
  std::vector<float> values = {};
  int64_t cols = 1;
  std::vector<int64_t> rows = {};  // which ones, where not all are looked at
};

struct Expected {
  Output output;
  /// How far off an element may be, in units of its scale; 0: not at all.
  double tolerance = 0;
  /// Of each element; empty: of all the largest finite magnitude that is expected.
  std::vector<float> scales = {};
};

/// Each element may be off by a few units in the last place of its type: what functions of two libraries are
/// apart. Below the smallest normal numbers by as much as there.
void allow_ulps(DType dtype, Expected& expected);

/// All elements may be off by so much of the largest finite one, or of `least`: the size of the terms where
/// these all but cancel.
Expected off_by(Output output, double tolerance, double least);

struct Agreement {
  bool ok = false;
  double max_error = 0;    // in units of the scale; infinite: where a number should be there is none
  double tolerance = 0;    // of the output that is off the most
  double nmse = 0;         // mean square of the errors over that of what is expected
  std::string where = {};  // of the largest error: "dst[3, 575] is 1.25, expected 1.5"
};

/// NaN agrees with NaN, and an infinity with the same one.
Agreement compare(const Output& actual, const Expected& expected);
/// The worst of all, measured by their tolerances.
Agreement compare(const std::vector<Output>& actual, const std::vector<Expected>& expected);

}  // namespace orrery::kernels::lab
