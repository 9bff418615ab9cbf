#include "kernels/lab/resize_case.h"

#include "kernels/lab/stored.h"

namespace orrery::kernels::lab {
namespace {

double flops_of(const Resize::Problem& problem) {
  double taps = 1;
  for (int d = 0; d < kSpatial; ++d)
    if (problem.src_size[d] != problem.dst_size[d]) taps *= taps_of(problem.function);
  return 2 * taps * static_cast<double>(problem.planes * volume(problem.dst_size));
}

}  // namespace

ResizeCase::ResizeCase(const Resize::Problem& asked, uint32_t seed, Distribution distribution)
    : problem(asked),
      src_(random_elements(asked.dtype, static_cast<size_t>(asked.planes * volume(asked.src_size)), seed,
                           distribution)) {}

Call<Resize> ResizeCase::place(const Row<Resize>&, Place& place) const {
  const size_t bytes = row_bytes(problem.dtype, problem.planes * volume(problem.dst_size)).value_or(0);
  std::byte* dst = place.put(std::vector<std::byte>(bytes, std::byte{1}), problem.dtype);
  Call<Resize> call;
  call.args = {.problem = problem, .src = place.put(src_, problem.dtype), .dst = dst};
  call.read = [dst, bytes, dtype = problem.dtype, cols = problem.dst_size[2]](Place& from) {
    return std::vector<Output>{
        {.name = "dst", .values = as_floats(dtype, from.get(dst, bytes)), .cols = cols}};
  };
  return call;
}

/// Nearest elements exactly; sums of float32, and one step of the type for 16 bits.
std::vector<Expected> ResizeCase::expected(const Roundings&) const {
  Expected expected{.output = run_reference<ResizeCase>(*this, resize_rows())[0]};
  const bool wide = problem.dtype == DType::f32, half = problem.dtype == DType::f16;
  if (problem.function != Resize::Function::nearest) expected.tolerance = wide ? 5e-6 : half ? 1e-3 : 8e-3;
  return {std::move(expected)};
}

/// A multiply-add a tap.
Work ResizeCase::work() const {
  const auto written = static_cast<double>(problem.planes * volume(problem.dst_size));
  return {.bytes = static_cast<double>(src_.size()) + written * dtype_info(problem.dtype).block_bytes,
          .flops = flops_of(problem)};
}

ResizeBackwardCase::ResizeBackwardCase(const Resize::Problem& asked, uint32_t seed, Distribution distribution)
    : problem(asked),
      grad_dst_(random_elements(asked.dtype, static_cast<size_t>(asked.planes * volume(asked.dst_size)), seed,
                                distribution)) {}

Call<ResizeBackward> ResizeBackwardCase::place(const Row<ResizeBackward>&, Place& place) const {
  const int64_t count = problem.planes * volume(problem.src_size);
  Call<ResizeBackward> call;
  call.args = {.problem = problem,
               .grad_dst = place.put(grad_dst_, problem.dtype),
               .grad_src = put_result(problem.dtype, count, place)};
  call.read = [args = call.args, count](Place& from) {
    return std::vector<Output>{
        read_result("grad_src", args.problem.dtype, args.grad_src, count, args.problem.src_size[2], from)};
  };
  return call;
}

/// Sums of float32, and one step of the type for 16 bits.
std::vector<Expected> ResizeBackwardCase::expected(const Roundings&) const {
  Expected expected{.output = run_reference<ResizeBackwardCase>(*this, resize_backward_rows())[0]};
  expected.tolerance = problem.dtype == DType::f32 ? 5e-6 : problem.dtype == DType::f16 ? 1e-3 : 8e-3;
  return {std::move(expected)};
}

/// A multiply-add a tap.
Work ResizeBackwardCase::work() const {
  const auto written = static_cast<double>(problem.planes * volume(problem.src_size));
  return {.bytes = static_cast<double>(grad_dst_.size()) + written * dtype_info(problem.dtype).block_bytes,
          .flops = flops_of(problem)};
}

}  // namespace orrery::kernels::lab
