#include "kernels/lab/convolution_case.h"

#include <algorithm>

#include "kernels/lab/some_rows.h"

namespace orrery::kernels::lab {

SpatialConvolutionCase::SpatialConvolutionCase(const Convolution::Problem& asked, bool biased, uint32_t seed,
                                               Distribution distribution)
    : problem(asked),
      src_(random_elements(asked.src, static_cast<size_t>(asked.src_elements()), seed, distribution)),
      weight_(random_elements(asked.weight, static_cast<size_t>(asked.weight_elements()), seed + 1)) {
  if (biased)
    bias_ = random_elements(asked.bias, static_cast<size_t>(asked.groups * asked.outputs), seed + 2);
}

Call<Convolution> SpatialConvolutionCase::place(const Row<Convolution>&, Place& place) const {
  const size_t bytes = row_bytes(problem.dst, problem.dst_elements()).value_or(0);
  std::byte* dst = place.put(std::vector<std::byte>(bytes, std::byte{1}), problem.dst);
  Call<Convolution> call;
  call.args = {.problem = problem,
               .src = place.put(src_, problem.src),
               .weight = place.put(weight_, problem.weight),
               .bias = bias_.empty() ? nullptr : place.put(bias_, problem.bias),
               .dst = dst};
  call.read = [dst, bytes, dtype = problem.dst, cols = problem.dst_size[2], step = row_step()](Place& from) {
    return std::vector<Output>{
        rows_of_step({.name = "dst", .values = as_floats(dtype, from.get(dst, bytes)), .cols = cols}, step)};
  };
  return call;
}

int64_t SpatialConvolutionCase::row_step() const {
  const int64_t cols = std::max<int64_t>(problem.dst_size[2], 1);
  return lab::row_step(static_cast<double>(problem.dst_elements() / cols),
                       2.0 * static_cast<double>(cols * problem.depth()),
                       std::max<int64_t>(problem.dst_size[0] * problem.dst_size[1], 1));
}

/// Sums of float32 in one order or another; one step of the type for 16 bits.
std::vector<Expected> SpatialConvolutionCase::expected(const Roundings&) const {
  const double tolerance = problem.dst == DType::f32 ? 5e-6 : problem.dst == DType::f16 ? 1e-3 : 8e-3;
  ThreadTeam team(1);
  HostPlace host(team);
  const auto call = place(convolution_rows().back(), host);
  ref::convolution_some(call.args, row_step());
  return {{.output = call.read(host)[0], .tolerance = tolerance}};
}

/// Of a transpose, what src is multiplied with, not the zeros between.
Work SpatialConvolutionCase::work() const {
  const auto written = static_cast<double>(problem.dst_elements());
  const double sums =
      problem.transposed
          ? static_cast<double>(problem.src_elements() * problem.outputs * problem.window.taps())
          : written * static_cast<double>(problem.depth());
  return {.bytes = static_cast<double>(src_.size() + weight_.size() + bias_.size()) +
                   written * dtype_info(problem.dst).block_bytes,
          .flops = 2 * sums};
}

}  // namespace orrery::kernels::lab
