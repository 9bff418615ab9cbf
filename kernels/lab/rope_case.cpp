#include "kernels/lab/rope_case.h"

#include <cmath>

namespace orrery::kernels::lab {

RopeCase::RopeCase(const RopeShape& shape, Distribution distribution, uint32_t seed)
    : problem{shape.style, shape.head_dim, shape.rope_dims},
      shape_(shape),
      src_(random_floats(static_cast<size_t>(shape.tokens * stride() - 5), seed, 1.0F, distribution)),
      factors_(random_floats(static_cast<size_t>(shape.rope_dims / 2), seed + 1)) {
  for (float& factor : factors_) factor = 1.0F + std::abs(factor);
  for (int64_t t = 0; t < shape.tokens; ++t)
    positions_.push_back(shape.first_position + static_cast<int32_t>(3 * t));
}

Call<Rope> RopeCase::place(const Row<Rope>&, Place& place) const {
  float* src = place.put(src_);
  float* dst = shape_.in_place ? src : place.put(std::vector<float>(src_.size(), -7.0F));
  Call<Rope> call;
  call.args = {.style = shape_.style,
               .src = src,
               .dst = dst,
               .src_stride = stride(),
               .dst_stride = stride(),
               .positions = place.put(positions_),
               .tokens = shape_.tokens,
               .heads = shape_.heads,
               .head_dim = shape_.head_dim,
               .rope_dims = shape_.rope_dims,
               .base = 100000.0F,
               .scaling = shape_.scaling,
               .frequency_factors = shape_.factors ? place.put(factors_) : nullptr};
  call.read = [dst, count = src_.size(), cols = stride()](Place& from) {
    return std::vector<Output>{{.name = "dst", .values = from.get(dst, count), .cols = cols}};
  };
  return call;
}

std::vector<Expected> RopeCase::expected(const Roundings&) const {
  return {{.output = run_reference<RopeCase>(*this, rope_rows())[0], .tolerance = 1e-6}};
}

Work RopeCase::work() const {
  const auto elements = static_cast<double>(shape_.tokens * shape_.heads * shape_.head_dim);
  return {.bytes = 8 * elements + 4.0 * static_cast<double>(shape_.tokens),
          .flops = 3.0 * static_cast<double>(shape_.tokens * shape_.heads * shape_.rope_dims)};
}

}  // namespace orrery::kernels::lab
