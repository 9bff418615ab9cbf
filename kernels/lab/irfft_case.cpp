#include "kernels/lab/irfft_case.h"

#include <cmath>

namespace orrery::kernels::lab {

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
  const double tolerance = problem.dtype == DType::f32 ? 5e-6 : problem.dtype == DType::f16 ? 1e-3 : 8e-3;
  return {{.output = run_reference<IrfftCase>(*this, irfft_rows())[0], .tolerance = tolerance}};
}

/// As is usual for a real transform: 2.5 n log2 n.
Work IrfftCase::work() const {
  const auto count = static_cast<double>(problem.count), rows = static_cast<double>(rows_);
  return {.bytes = static_cast<double>(src_.size()) +
                   static_cast<double>(row_bytes(problem.dtype, rows_ * problem.count).value_or(0)),
          .flops = rows * 2.5 * count * std::log2(count + 1)};
}

}  // namespace orrery::kernels::lab
