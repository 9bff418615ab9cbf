#include "kernels/lab/generate_case.h"

#include <algorithm>
#include <cmath>

namespace orrery::kernels::lab {

Call<Generate> GenerateCase::place(const Row<Generate>&, Place& place) const {
  const auto bytes = static_cast<size_t>(count_ * dtype_info(problem.dtype).block_bytes);
  std::byte* dst = place.put(std::vector<std::byte>(bytes, std::byte{1}), problem.dtype);
  Call<Generate> call;
  call.args = {.problem = problem,
               .count = count_,
               .a = a,
               .b = b,
               .first = first,
               .stride = stride,
               .seed = seed,
               .dst = dst};
  call.read = [dst, bytes, dtype = problem.dtype](Place& from) {
    return std::vector<Output>{{.name = "dst", .values = as_floats(dtype, from.get(dst, bytes))}};
  };
  return call;
}

/// The functions of a library are not rounded as these are: one step of the type of the larger of mean and
/// deviation.
std::vector<Expected> GenerateCase::expected(const Roundings&) const {
  Expected expected{.output = run_reference<GenerateCase>(*this, generate_rows())[0]};
  if (problem.function == Generate::Function::gaussian) {
    allow_ulps(problem.dtype, expected);
    const auto least = static_cast<float>(1e-6 * std::max(std::abs(a), std::abs(b)));
    for (float& scale : expected.scales) scale = std::max(scale, least);
  }
  return {std::move(expected)};
}

Work GenerateCase::work() const {
  const auto elements = static_cast<double>(count_);
  return {.bytes = elements * dtype_info(problem.dtype).block_bytes,
          .flops = elements * (problem.function == Generate::Function::gaussian ? 5 : 2)};
}

}  // namespace orrery::kernels::lab
