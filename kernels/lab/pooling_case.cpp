#include "kernels/lab/pooling_case.h"

#include "kernels/lab/stored.h"

namespace orrery::kernels::lab {

PoolingCase::PoolingCase(const Pooling::Problem& asked, uint32_t seed, Distribution distribution)
    : problem(asked),
      src_(random_elements(asked.dtype, static_cast<size_t>(asked.planes * volume(asked.src_size)), seed,
                           distribution)) {}

Call<Pooling> PoolingCase::place(const Row<Pooling>&, Place& place) const {
  const size_t bytes = row_bytes(problem.dtype, problem.planes * volume(problem.dst_size)).value_or(0);
  std::byte* dst = place.put(std::vector<std::byte>(bytes, std::byte{1}), problem.dtype);
  Call<Pooling> call;
  call.args = {.problem = problem, .src = place.put(src_, problem.dtype), .dst = dst};
  call.read = [dst, bytes, dtype = problem.dtype, cols = problem.dst_size[2]](Place& from) {
    return std::vector<Output>{
        {.name = "dst", .values = as_floats(dtype, from.get(dst, bytes)), .cols = cols}};
  };
  return call;
}

/// The largest exactly; sums of float32, and one step of the type for 16 bits.
std::vector<Expected> PoolingCase::expected(const Roundings&) const {
  Expected expected{.output = run_reference<PoolingCase>(*this, pooling_rows())[0]};
  const bool wide = problem.dtype == DType::f32, half = problem.dtype == DType::f16;
  if (problem.function == Pooling::Function::average) expected.tolerance = wide ? 5e-6 : half ? 1e-3 : 8e-3;
  return {std::move(expected)};
}

/// An addition or a comparison a tap.
Work PoolingCase::work() const {
  const auto written = static_cast<double>(problem.planes * volume(problem.dst_size));
  return {.bytes = static_cast<double>(src_.size()) + written * dtype_info(problem.dtype).block_bytes,
          .flops = written * static_cast<double>(problem.window.taps())};
}

PoolingBackwardCase::PoolingBackwardCase(const Pooling::Problem& asked, uint32_t seed,
                                         Distribution distribution)
    : problem(asked),
      grad_dst_(
          random_elements(asked.dtype, static_cast<size_t>(asked.planes * volume(asked.dst_size)), seed)),
      src_(random_elements(asked.dtype, static_cast<size_t>(asked.planes * volume(asked.src_size)), seed + 1,
                           distribution)) {}

Call<PoolingBackward> PoolingBackwardCase::place(const Row<PoolingBackward>&, Place& place) const {
  const int64_t count = problem.planes * volume(problem.src_size);
  Call<PoolingBackward> call;
  call.args = {.problem = problem,
               .grad_dst = place.put(grad_dst_, problem.dtype),
               .src = place.put(src_, problem.dtype),
               .grad_src = put_result(problem.dtype, count, place)};
  call.read = [args = call.args, count](Place& from) {
    return std::vector<Output>{
        read_result("grad_src", args.problem.dtype, args.grad_src, count, args.problem.src_size[2], from)};
  };
  return call;
}

/// Sums of float32, and one step of the type for 16 bits.
std::vector<Expected> PoolingBackwardCase::expected(const Roundings&) const {
  Expected expected{.output = run_reference<PoolingBackwardCase>(*this, pooling_backward_rows())[0]};
  expected.tolerance = problem.dtype == DType::f32 ? 5e-6 : problem.dtype == DType::f16 ? 1e-3 : 8e-3;
  return {std::move(expected)};
}

/// A comparison and an addition a tap.
Work PoolingBackwardCase::work() const {
  const auto windows = static_cast<double>(problem.planes * volume(problem.dst_size));
  return {.bytes = 2 * static_cast<double>(src_.size()) + static_cast<double>(grad_dst_.size()),
          .flops = 2 * windows * static_cast<double>(problem.window.taps())};
}

}  // namespace orrery::kernels::lab
