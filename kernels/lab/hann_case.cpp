#include "kernels/lab/hann_case.h"

#include "kernels/lab/inputs.h"

namespace orrery::kernels::lab {

Call<Hann> HannCase::place(const Row<Hann>&, Place& place) const {
  const size_t bytes = row_bytes(problem.dtype, count_).value_or(0);
  std::byte* dst = place.put(std::vector<std::byte>(bytes, std::byte{1}), problem.dtype);
  Call<Hann> call;
  call.args = {.dtype = problem.dtype, .periodic = periodic_, .count = count_, .dst = dst};
  call.read = [dst, bytes, dtype = problem.dtype, cols = count_](Place& from) {
    return std::vector<Output>{
        {.name = "dst", .values = as_floats(dtype, from.get(dst, bytes)), .cols = cols}};
  };
  return call;
}

/// Of 1, as the formula is exact to that; one step of the type for 16 bits.
std::vector<Expected> HannCase::expected(const Roundings&) const {
  const double tolerance = problem.dtype == DType::f32 ? 2e-7 : problem.dtype == DType::f16 ? 1e-3 : 8e-3;
  return {{.output = run_reference<HannCase>(*this, hann_rows())[0],
           .tolerance = tolerance,
           .scales = std::vector<float>(static_cast<size_t>(count_), 1.0F)}};
}

/// A sine and a product.
Work HannCase::work() const {
  return {.bytes = static_cast<double>(row_bytes(problem.dtype, count_).value_or(0)),
          .flops = 2.0 * static_cast<double>(count_)};
}

}  // namespace orrery::kernels::lab
