// A body on one case: how far its results are from the expected ones, how long it took, and both as text.
#pragma once

#include <functional>

#include "engine/custom/trial/cases.h"

namespace orrery::custom::trial {

/// The largest difference of two results, measured by what is allowed there.
struct Difference {
  double most = 0, allowed = 0;  // of the largest number of its output; infinite where a number is none
  std::string where = {};        // "element 3 of dst is 1.25 .. and 1.5 ..", with the names of both sides
  bool over() const { return !(most <= allowed); }
};

/// `found` beside `expected`, both as the outputs of the call; NaN agrees with NaN. `side`, `other`: whose
/// they are, as in "on the card" and "on the CPU".
Difference difference_of(const Body& body, const orrery_call& call, const std::vector<Bytes>& expected,
                         const std::vector<Bytes>& found, std::string_view side, std::string_view other);

/// Microseconds of a call: the median of samples, each of as many calls as fill some time. `calls(n)` makes n
/// of them and returns when they are done.
double median_us(const std::function<void(int)>& calls);

/// A line of the report. `against`: what the numbers were held against; empty: nothing.
void tell_case(const Body& body, const Case& one, std::string_view device, std::string_view against,
               const Difference& difference, double us);

}  // namespace orrery::custom::trial
