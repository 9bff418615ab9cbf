#include "kernels/lab/irfft_case.h"

#include <cmath>

#include "kernels/lab/stored.h"

namespace orrery::kernels::lab {
namespace {

/// As is usual for a real transform: 2.5 n log2 n; spectra and signals once.
Work fourier_work(const Irfft::Problem& problem, int64_t rows) {
  const auto count = static_cast<double>(problem.count);
  return {.bytes = static_cast<double>(
              row_bytes(problem.dtype, rows * (problem.bins * 2 + problem.count)).value_or(0)),
          .flops = static_cast<double>(rows) * 2.5 * count * std::log2(count + 1)};
}

double fourier_tolerance(DType dtype) {
  return dtype == DType::f32 ? 5e-6 : dtype == DType::f16 ? 1e-3 : 8e-3;
}

}  // namespace

IrfftCase::IrfftCase(const Irfft::Problem& asked, int64_t rows, double scale, uint32_t seed)
    : problem(asked),
      rows_(rows),
      scale_(scale),
      src_(random_elements(asked.dtype, static_cast<size_t>(rows * asked.bins * 2), seed)) {}

Call<Irfft> IrfftCase::place(const Row<Irfft>&, Place& place) const {
  const size_t bytes = row_bytes(problem.dtype, rows_ * problem.count).value_or(0);
  std::byte* dst = place.put(std::vector<std::byte>(bytes, std::byte{1}), problem.dtype);
  Call<Irfft> call;
  call.args = {
      .problem = problem, .rows = rows_, .scale = scale_, .src = place.put(src_, problem.dtype), .dst = dst};
  call.read = [dst, bytes, dtype = problem.dtype, cols = problem.count](Place& from) {
    return std::vector<Output>{
        {.name = "dst", .values = as_floats(dtype, from.get(dst, bytes)), .cols = cols}};
  };
  return call;
}

/// Sums of float32 in the order of the bins; one step of the type for 16 bits.
std::vector<Expected> IrfftCase::expected(const Roundings&) const {
  return {{.output = run_reference<IrfftCase>(*this, irfft_rows())[0],
           .tolerance = fourier_tolerance(problem.dtype)}};
}

Work IrfftCase::work() const { return fourier_work(problem, rows_); }

IrfftBackwardCase::IrfftBackwardCase(const Irfft::Problem& asked, int64_t rows, double scale, uint32_t seed)
    : problem(asked),
      rows_(rows),
      scale_(scale),
      grad_dst_(random_elements(asked.dtype, static_cast<size_t>(rows * asked.count), seed)) {}

Call<IrfftBackward> IrfftBackwardCase::place(const Row<IrfftBackward>&, Place& place) const {
  const int64_t count = rows_ * problem.bins * 2;
  Call<IrfftBackward> call;
  call.args = {.problem = problem,
               .rows = rows_,
               .scale = scale_,
               .grad_dst = place.put(grad_dst_, problem.dtype),
               .grad_src = put_result(problem.dtype, count, place)};
  call.read = [args = call.args, count](Place& from) {
    return std::vector<Output>{
        read_result("grad_src", args.problem.dtype, args.grad_src, count, args.problem.bins * 2, from)};
  };
  return call;
}

/// Sums of float32 in the order of the elements; one step of the type for 16 bits.
std::vector<Expected> IrfftBackwardCase::expected(const Roundings&) const {
  return {{.output = run_reference<IrfftBackwardCase>(*this, irfft_backward_rows())[0],
           .tolerance = fourier_tolerance(problem.dtype)}};
}

Work IrfftBackwardCase::work() const { return fourier_work(problem, rows_); }

}  // namespace orrery::kernels::lab
