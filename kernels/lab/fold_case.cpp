#include "kernels/lab/fold_case.h"

namespace orrery::kernels::lab {

FoldCase::FoldCase(const Fold::Problem& asked, uint32_t seed, Distribution distribution)
    : problem(asked),
      src_(random_elements(asked.dtype,
                           static_cast<size_t>(asked.planes * asked.window.taps() * volume(asked.places)),
                           seed, distribution)) {}

Call<Fold> FoldCase::place(const Row<Fold>&, Place& place) const {
  const size_t bytes = row_bytes(problem.dtype, problem.planes * volume(problem.size)).value_or(0);
  std::byte* dst = place.put(std::vector<std::byte>(bytes, std::byte{1}), problem.dtype);
  Call<Fold> call;
  call.args = {.problem = problem, .src = place.put(src_, problem.dtype), .dst = dst};
  call.read = [dst, bytes, dtype = problem.dtype, cols = problem.size[2]](Place& from) {
    return std::vector<Output>{
        {.name = "dst", .values = as_floats(dtype, from.get(dst, bytes)), .cols = cols}};
  };
  return call;
}

/// Sums of float32; one step of the type for 16 bits.
std::vector<Expected> FoldCase::expected(const Roundings&) const {
  const double tolerance = problem.dtype == DType::f32 ? 5e-6 : problem.dtype == DType::f16 ? 1e-3 : 8e-3;
  return {{.output = run_reference<FoldCase>(*this, fold_rows())[0], .tolerance = tolerance}};
}

/// An addition an element of src.
Work FoldCase::work() const {
  const int size = dtype_info(problem.dtype).block_bytes;
  return {.bytes = static_cast<double>(src_.size()) +
                   static_cast<double>(problem.planes * volume(problem.size)) * size,
          .flops = static_cast<double>(src_.size()) / size};
}

}  // namespace orrery::kernels::lab
