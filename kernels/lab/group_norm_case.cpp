#include "kernels/lab/group_norm_case.h"

namespace orrery::kernels::lab {

Call<GroupNorm> GroupNormCase::place(const Row<GroupNorm>&, Place& place) const {
  std::byte* src = place.put(src_, problem.dtype);
  std::byte* dst =
      in_place ? src : place.put(std::vector<std::byte>(src_.size(), std::byte{1}), problem.dtype);
  const auto channels = static_cast<size_t>(channels_);
  Call<GroupNorm> call;
  call.args = {.dtype = problem.dtype,
               .batch = batch_,
               .channels = channels_,
               .inner = inner_,
               .groups = groups_,
               .src = src,
               .weight = scaled ? place.put(random_floats(channels, 21)) : nullptr,
               .bias = scaled ? place.put(random_floats(channels, 22)) : nullptr,
               .dst = dst,
               .eps = 1e-3F};
  call.read = [dst, bytes = src_.size(), dtype = problem.dtype, cols = inner_](Place& from) {
    return std::vector<Output>{
        {.name = "dst", .values = as_floats(dtype, from.get(dst, bytes)), .cols = cols}};
  };
  return call;
}

/// In units of the largest: differences and products of float32, or one step of 16 bits.
std::vector<Expected> GroupNormCase::expected(const Roundings&) const {
  const double step = problem.dtype == DType::f32 ? 2e-6 : problem.dtype == DType::f16 ? 1e-3 : 8e-3;
  return {{.output = run_reference<GroupNormCase>(*this, group_norm_rows())[0], .tolerance = step}};
}

Work GroupNormCase::work() const {
  return {.bytes = 2.0 * static_cast<double>(src_.size()),
          .flops = 7.0 * static_cast<double>(batch_ * channels_ * inner_)};
}

}  // namespace orrery::kernels::lab
