#include "kernels/lab/cumsum_case.h"

namespace orrery::kernels::lab {

Call<Cumsum> CumsumCase::place(const Row<Cumsum>&, Place& place) const {
  std::byte* src = place.put(src_, problem.dtype);
  std::byte* dst =
      in_place ? src : place.put(std::vector<std::byte>(src_.size(), std::byte{1}), problem.dtype);
  Call<Cumsum> call;
  call.args = {.dtype = problem.dtype,
               .exclusive = exclusive,
               .reverse = reverse,
               .outer = outer_,
               .count = count_,
               .inner = inner_,
               .src = src,
               .dst = dst};
  call.read = [dst, bytes = src_.size(), dtype = problem.dtype, cols = count_ * inner_](Place& from) {
    return std::vector<Output>{
        {.name = "dst", .values = as_floats(dtype, from.get(dst, bytes)), .cols = cols}};
  };
  return call;
}

/// Sums of float64 in another order, where the two lie beside a border of rounding: one step of the type.
std::vector<Expected> CumsumCase::expected(const Roundings&) const {
  Expected expected{.output = run_reference<CumsumCase>(*this, cumsum_rows())[0]};
  if (is_float(problem.dtype)) {
    allow_ulps(problem.dtype, expected);
    for (float& scale : expected.scales) scale = std::max(scale, 1e-9F * static_cast<float>(count_));
  }
  return {std::move(expected)};
}

Work CumsumCase::work() const {
  return {.bytes = 2.0 * static_cast<double>(src_.size()),
          .flops = static_cast<double>(outer_ * count_ * inner_)};
}

}  // namespace orrery::kernels::lab
