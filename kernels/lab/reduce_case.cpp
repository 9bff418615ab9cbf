#include "kernels/lab/reduce_case.h"

namespace orrery::kernels::lab {

Call<Reduce> ReduceCase::place(const Row<Reduce>&, Place& place) const {
  const size_t bytes = row_bytes(problem.dst, outer_ * inner_).value_or(0);
  std::byte* dst = place.put(std::vector<std::byte>(bytes, std::byte{1}), problem.dst);
  Call<Reduce> call;
  call.args = {.problem = problem,
               .outer = outer_,
               .count = count_,
               .inner = inner_,
               .src = place.put(src_, problem.src),
               .dst = dst};
  call.read = [dst, bytes, dtype = problem.dst, cols = inner_](Place& from) {
    return std::vector<Output>{
        {.name = "dst", .values = as_floats(dtype, from.get(dst, bytes)), .cols = cols}};
  };
  return call;
}

/// Sums and products of float64 in another order are apart by far less than a step of float32: where the two
/// lie beside a border of rounding, by one.
std::vector<Expected> ReduceCase::expected(const Roundings&) const {
  using F = Reduce::Function;
  Expected expected{.output = run_reference<ReduceCase>(*this, reduce_rows())[0]};
  const bool adds = problem.function == F::sum || problem.function == F::mean || problem.function == F::prod;
  if (adds && is_float(problem.src)) {
    allow_ulps(problem.dst, expected);
    // Sums that all but cancel are off by the largest of their terms' last places.
    const auto terms = static_cast<float>(count_);
    if (problem.function != F::prod)
      for (float& scale : expected.scales) scale = std::max(scale, 1e-9F * terms);
  }
  return {std::move(expected)};
}

Work ReduceCase::work() const {
  const auto results = static_cast<double>(outer_ * inner_);
  return {.bytes = static_cast<double>(src_.size()) + results * dtype_info(problem.dst).block_bytes,
          .flops = results * static_cast<double>(count_)};
}

}  // namespace orrery::kernels::lab
