#include "kernels/lab/mask_case.h"

namespace orrery::kernels::lab {

Call<Mask> MaskCase::place(const Row<Mask>&, Place& place) const {
  std::byte* src = place.put(src_, problem.dtype);
  std::byte* dst =
      in_place ? src : place.put(std::vector<std::byte>(src_.size(), std::byte{1}), problem.dtype);
  Call<Mask> call;
  call.args = {.problem = problem,
               .rows = rows_,
               .cols = cols_,
               .height = height,
               .lower = lower,
               .upper = upper,
               .exclude = exclude,
               .dropout = dropout,
               .src = src,
               .dst = dst};
  call.read = [dst, bytes = src_.size(), dtype = problem.dtype, cols = cols_](Place& from) {
    return std::vector<Output>{
        {.name = "dst", .values = as_floats(dtype, from.get(dst, bytes)), .cols = cols}};
  };
  return call;
}

std::vector<Expected> MaskCase::expected(const Roundings&) const {
  return {{.output = run_reference<MaskCase>(*this, mask_rows())[0]}};
}

Work MaskCase::work() const {
  const bool drops = problem.function == Mask::Function::dropout;
  return {.bytes = 2.0 * static_cast<double>(src_.size()),
          .flops = drops ? static_cast<double>(rows_ * cols_) : 0.0};
}

}  // namespace orrery::kernels::lab
