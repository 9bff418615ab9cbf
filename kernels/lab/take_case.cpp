#include "kernels/lab/take_case.h"

#include <cstring>
#include <random>

namespace orrery::kernels::lab {

std::vector<std::byte> random_indices(DType dtype, size_t count, const std::vector<int64_t>& limits,
                                      uint32_t seed) {
  std::mt19937 random(seed);
  const auto size = static_cast<size_t>(dtype_info(dtype).block_bytes);
  std::vector<std::byte> bytes(count * size);
  for (size_t i = 0; i < count; ++i) {
    const int64_t limit = limits[i % limits.size()];
    const int64_t number = static_cast<int64_t>(random() % static_cast<uint32_t>(2 * limit + 2)) - limit;
    std::memcpy(bytes.data() + i * size, &number, size);
  }
  return bytes;
}

TakeCase::TakeCase(const Take::Problem& asked, int64_t outer, std::vector<int64_t> sizes, int64_t inner,
                   int64_t places, uint32_t seed)
    : problem(asked), outer_(outer), inner_(inner), places_(places), sizes_(std::move(sizes)) {
  int64_t count = outer * inner;
  for (const int64_t size : sizes_) count *= size;
  src_ = random_elements(asked.dtype, static_cast<size_t>(count), seed);
  indices_ = random_indices(asked.index, static_cast<size_t>(places) * sizes_.size(), sizes_, seed + 1);
}

Call<Take> TakeCase::place(const Row<Take>&, Place& place) const {
  const size_t bytes = row_bytes(problem.dtype, outer_ * places_ * inner_).value_or(0);
  std::byte* dst = place.put(std::vector<std::byte>(bytes, std::byte{1}), problem.dtype);
  Call<Take> call;
  call.args = {.problem = problem,
               .outer = outer_,
               .places = places_,
               .inner = inner_,
               .depth = static_cast<int>(sizes_.size()),
               .src = place.put(src_, problem.dtype),
               .indices = place.put(indices_, problem.index),
               .dst = dst};
  std::copy(sizes_.begin(), sizes_.end(), call.args.sizes);
  call.read = [dst, bytes, dtype = problem.dtype, cols = inner_](Place& from) {
    return std::vector<Output>{
        {.name = "dst", .values = as_floats(dtype, from.get(dst, bytes)), .cols = cols}};
  };
  return call;
}

std::vector<Expected> TakeCase::expected(const Roundings&) const {
  return {{.output = run_reference<TakeCase>(*this, take_rows())[0]}};
}

Work TakeCase::work() const {
  const double bytes = dtype_info(problem.dtype).block_bytes;
  return {.bytes = 2 * bytes * static_cast<double>(outer_ * places_ * inner_) +
                   static_cast<double>(indices_.size())};
}

}  // namespace orrery::kernels::lab
