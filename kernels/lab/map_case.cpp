#include "kernels/lab/map_case.h"

#include <algorithm>
#include <cmath>

namespace orrery::kernels::lab {

MapCase::MapCase(const Map::Problem& asked, std::vector<std::byte> src)
    : problem(asked),
      src_(std::move(src)),
      count_(static_cast<int64_t>(src_.size()) / dtype_info(asked.src).block_bytes) {}

Call<Map> MapCase::place(const Row<Map>&, Place& place) const {
  const size_t bytes = row_bytes(problem.dst, count_).value_or(0);
  std::byte* dst = place.put(std::vector<std::byte>(bytes, std::byte{1}), problem.dst);
  Call<Map> call;
  call.args = {.problem = problem, .count = count_, .src = place.put(src_, problem.src), .dst = dst};
  call.read = [dst, bytes, dtype = problem.dst](Place& from) {
    return std::vector<Output>{{.name = "dst", .values = as_floats(dtype, from.get(dst, bytes))}};
  };
  return call;
}

/// What has one right answer in float32 is exact; the others are off as far as libraries differ. What is a
/// share of x, from 0 to 1, is off by steps of 1 in that share.
std::vector<Expected> MapCase::expected(const Roundings&) const {
  Expected expected{.output = run_reference<MapCase>(*this, map_rows())[0]};
  if (info_of(problem.function).kind == Map::Kind::real) {
    allow_ulps(problem.dst, expected);
    using F = Map::Function;
    const bool is_share = problem.function == F::silu || problem.function == F::gelu_erf ||
                          problem.function == F::gelu_tanh || problem.function == F::gelu_quick;
    const std::vector<float> x = is_share ? as_floats(problem.src, src_) : std::vector<float>();
    for (size_t i = 0; i < x.size(); ++i)
      if (std::isfinite(x[i]))
        expected.scales[i] =
            std::max(expected.scales[i], std::abs(x[i]) * static_cast<float>(1e-6 / expected.tolerance));
  }
  return {std::move(expected)};
}

Work MapCase::work() const {
  const auto elements = static_cast<double>(count_);
  return {.bytes = static_cast<double>(src_.size()) + elements * dtype_info(problem.dst).block_bytes,
          .flops = elements * info_of(problem.function).flops};
}

}  // namespace orrery::kernels::lab
