#include "kernels/lab/copy_case.h"

namespace orrery::kernels::lab {

CopyCase::CopyCase(DType from, DType to, const Walk<2>& walk, uint32_t seed, Distribution distribution)
    : problem{from, to, walk.rank},
      walk_(walk),
      src_(random_elements(from, static_cast<size_t>(span_of(walk, 0)), seed, distribution)),
      dst_(row_bytes(to, span_of(walk, 1)).value_or(0), std::byte{1}) {}

Call<Copy> CopyCase::place(const Row<Copy>&, Place& place) const {
  std::byte* dst = place.put(dst_, problem.to);
  Call<Copy> call;
  call.args = {.from = problem.from,
               .to = problem.to,
               .walk = walk_,
               .src = place.put(src_, problem.from),
               .dst = dst};
  call.read = [dst, bytes = dst_.size(), dtype = problem.to](Place& from) {
    return std::vector<Output>{{.name = "dst", .values = as_floats(dtype, from.get(dst, bytes))}};
  };
  return call;
}

std::vector<Expected> CopyCase::expected(const Roundings&) const {
  return {{.output = run_reference<CopyCase>(*this, copy_rows())[0]}};
}

Work CopyCase::work() const {
  const auto elements = static_cast<double>(walk_.elements());
  return {.bytes = elements * (dtype_info(problem.from).block_bytes + dtype_info(problem.to).block_bytes)};
}

}  // namespace orrery::kernels::lab
