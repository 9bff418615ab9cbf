#include "kernels/lab/pad_case.h"

#include <algorithm>

namespace orrery::kernels::lab {

PadCase::PadCase(const Pad::Problem& asked, std::vector<int64_t> sizes, std::vector<int64_t> before,
                 std::vector<int64_t> after, std::vector<std::byte> src, uint64_t value)
    : problem(asked),
      sizes_(std::move(sizes)),
      before_(std::move(before)),
      padded_(sizes_),
      src_(std::move(src)),
      value_(value) {
  for (size_t d = 0; d < padded_.size(); ++d) {
    padded_[d] += before_[d] + after[d];
    elements_ *= padded_[d];
  }
}

Call<Pad> PadCase::place(const Row<Pad>&, Place& place) const {
  const auto bytes = static_cast<size_t>(elements_ * dtype_info(problem.dtype).block_bytes);
  std::byte* dst = place.put(std::vector<std::byte>(bytes, std::byte{1}), problem.dtype);
  Call<Pad> call;
  call.args.problem = problem;
  std::copy(sizes_.begin(), sizes_.end(), call.args.sizes);
  std::copy(before_.begin(), before_.end(), call.args.before);
  std::copy(padded_.begin(), padded_.end(), call.args.padded);
  call.args.value = value_;
  call.args.src = place.put(src_, problem.dtype);
  call.args.dst = dst;
  call.read = [dst, bytes, dtype = problem.dtype, cols = padded_.back()](Place& from) {
    return std::vector<Output>{
        {.name = "dst", .values = as_floats(dtype, from.get(dst, bytes)), .cols = cols}};
  };
  return call;
}

std::vector<Expected> PadCase::expected(const Roundings&) const {
  return {{.output = run_reference<PadCase>(*this, pad_rows())[0]}};
}

Work PadCase::work() const {
  return {.bytes = static_cast<double>(src_.size()) +
                   static_cast<double>(elements_) * dtype_info(problem.dtype).block_bytes};
}

}  // namespace orrery::kernels::lab
