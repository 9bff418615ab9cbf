#include "kernels/lab/softmax_case.h"

namespace orrery::kernels::lab {

Call<Softmax> SoftmaxCase::place(const Row<Softmax>&, Place& place) const {
  std::byte* src = place.put(src_, problem.dtype);
  std::byte* dst =
      in_place ? src : place.put(std::vector<std::byte>(src_.size(), std::byte{1}), problem.dtype);
  Call<Softmax> call;
  call.args = {.dtype = problem.dtype,
               .log = problem.log,
               .outer = outer_,
               .count = count_,
               .inner = inner_,
               .src = src,
               .dst = dst};
  call.read = [dst, bytes = src_.size(), dtype = problem.dtype, cols = count_ * inner_](Place& from) {
    return std::vector<Output>{
        {.name = "dst", .values = as_floats(dtype, from.get(dst, bytes)), .cols = cols}};
  };
  return call;
}

/// In units of the largest probability: exponentials and sums of float32, or one step of 16 bits.
std::vector<Expected> SoftmaxCase::expected(const Roundings&) const {
  const double step = problem.dtype == DType::f32 ? 1e-6 : problem.dtype == DType::f16 ? 1e-3 : 8e-3;
  return {{.output = run_reference<SoftmaxCase>(*this, softmax_rows())[0], .tolerance = step}};
}

Work SoftmaxCase::work() const {
  return {.bytes = 2.0 * static_cast<double>(src_.size()),
          .flops = 5.0 * static_cast<double>(outer_ * count_ * inner_)};
}

}  // namespace orrery::kernels::lab
