#include "kernels/lab/combine_case.h"

#include "kernels/lab/copy_case.h"

namespace orrery::kernels::lab {

CombineCase::CombineCase(const Combine::Problem& asked, const Walk<4>& walk, uint32_t seed,
                         Distribution distribution)
    : problem(asked),
      walk_(walk),
      a_(random_elements(asked.a, static_cast<size_t>(span_of(walk, 0)), seed, distribution)),
      b_(random_elements(asked.b, static_cast<size_t>(span_of(walk, 1)), seed + 1, distribution)) {
  problem.rank = walk.rank;
  pack_strides(walk_.rank, walk_.sizes, walk_.strides[3]);
  if (problem.function == Combine::Function::where)
    condition_ = random_elements(DType::boolean, static_cast<size_t>(span_of(walk, 2)), seed + 2);
}

Call<Combine> CombineCase::place(const Row<Combine>&, Place& place) const {
  const size_t bytes = row_bytes(problem.dst, walk_.elements()).value_or(0);
  std::byte* dst = place.put(std::vector<std::byte>(bytes, std::byte{1}), problem.dst);
  Call<Combine> call;
  call.args = {.problem = problem,
               .walk = walk_,
               .a = place.put(a_, problem.a),
               .b = place.put(b_, problem.b),
               .condition = reinterpret_cast<const uint8_t*>(place.put(condition_, DType::boolean)),
               .dst = dst};
  call.read = [dst, bytes, dtype = problem.dst](Place& from) {
    return std::vector<Output>{{.name = "dst", .values = as_floats(dtype, from.get(dst, bytes))}};
  };
  return call;
}

/// Sums, products and quotients of two float32 are rounded alike by way of float64; powers and large rounded
/// quotients are off by a few units in the last place.
std::vector<Expected> CombineCase::expected(const Roundings&) const {
  Expected expected{.output = run_reference<CombineCase>(*this, combine_rows())[0]};
  const bool exact = problem.function != Combine::Function::pow &&
                     problem.function != Combine::Function::floor_div &&
                     problem.function != Combine::Function::mod;
  if (!exact && is_float(problem.common)) allow_ulps(problem.dst, expected);
  return {std::move(expected)};
}

Work CombineCase::work() const {
  const auto elements = static_cast<double>(walk_.elements());
  return {.bytes = static_cast<double>(a_.size() + b_.size() + condition_.size()) +
                   elements * dtype_info(problem.dst).block_bytes,
          .flops = elements};
}

}  // namespace orrery::kernels::lab
