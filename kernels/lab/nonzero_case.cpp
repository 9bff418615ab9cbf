#include "kernels/lab/nonzero_case.h"

#include <algorithm>

namespace orrery::kernels::lab {

NonzeroCase::NonzeroCase(const Nonzero::Problem& asked, std::vector<int64_t> sizes, int64_t capacity,
                         std::vector<std::byte> mask, std::vector<std::byte> src,
                         std::vector<std::byte> values)
    : problem(asked),
      sizes_(std::move(sizes)),
      capacity_(capacity),
      mask_(std::move(mask)),
      src_(std::move(src)),
      values_(std::move(values)) {}

Call<Nonzero> NonzeroCase::place(const Row<Nonzero>&, Place& place) const {
  const bool puts = problem.function == Nonzero::Function::put;
  const size_t bytes = puts ? src_.size() : static_cast<size_t>(capacity_) * sizes_.size() * sizeof(int64_t);
  std::byte* src = place.put(src_, problem.dtype);
  std::byte* dst =
      in_place && puts ? src : place.put(std::vector<std::byte>(bytes, std::byte{1}), problem.dtype);
  int64_t* count = place.put(std::vector<int64_t>{-7});
  Call<Nonzero> call;
  call.args.problem = problem;
  call.args.rank = static_cast<int>(sizes_.size());
  std::copy(sizes_.begin(), sizes_.end(), call.args.sizes);
  call.args.capacity = capacity_;
  call.args.mask = place.put(mask_, problem.mask);
  call.args.src = src;
  call.args.values = place.put(values_, problem.dtype);
  call.args.dst = dst;
  call.args.count = count;
  call.read = [dst, bytes, count, dtype = problem.dtype](Place& from) {
    const auto marked = static_cast<float>(from.get(count, 1)[0]);
    return std::vector<Output>{{.name = "dst", .values = as_floats(dtype, from.get(dst, bytes))},
                               {.name = "count", .values = {marked}}};
  };
  return call;
}

std::vector<Expected> NonzeroCase::expected(const Roundings&) const {
  std::vector<Expected> expected;
  for (Output& output : run_reference<NonzeroCase>(*this, nonzero_rows()))
    expected.push_back({.output = std::move(output)});
  return expected;
}

Work NonzeroCase::work() const {
  const double rows = static_cast<double>(capacity_) * static_cast<double>(sizes_.size()) * sizeof(int64_t);
  const bool puts = problem.function == Nonzero::Function::put;
  return {.bytes = static_cast<double>(mask_.size()) +
                   (puts ? static_cast<double>(2 * src_.size() + values_.size()) : rows)};
}

}  // namespace orrery::kernels::lab
