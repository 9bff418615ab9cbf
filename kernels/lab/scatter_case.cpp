#include "kernels/lab/scatter_case.h"

#include "kernels/lab/take_case.h"

namespace orrery::kernels::lab {

ScatterCase::ScatterCase(const Scatter::Problem& asked, int64_t outer, int64_t count, int64_t inner,
                         int64_t steps, uint32_t seed)
    : problem(asked), outer_(outer), count_(count), inner_(inner), steps_(steps) {
  const auto updates = static_cast<size_t>(outer * steps * inner);
  before_ = random_elements(asked.dtype, static_cast<size_t>(outer * count * inner), seed);
  updates_ = random_elements(asked.dtype, updates, seed + 1);
  indices_ = random_indices(asked.index, updates, {count}, seed + 2);
}

Call<Scatter> ScatterCase::place(const Row<Scatter>&, Place& place) const {
  std::byte* dst = place.put(before_, problem.dtype);
  Call<Scatter> call;
  call.args = {.problem = problem,
               .lines = {.rank = 2, .sizes = {outer_, inner_}},
               .steps = steps_,
               .update_step = inner_,
               .index_step = inner_,
               .updates = place.put(updates_, problem.dtype),
               .indices = place.put(indices_, problem.index),
               .dst = dst};
  call.args.sizes[0] = count_;
  call.args.strides[0] = inner_;
  for (int operand = 0; operand < 3; ++operand) {
    call.args.lines.strides[operand][0] = (operand == 0 ? count_ : steps_) * inner_;
    call.args.lines.strides[operand][1] = 1;
  }
  call.read = [dst, bytes = before_.size(), dtype = problem.dtype, cols = count_ * inner_](Place& from) {
    return std::vector<Output>{
        {.name = "dst", .values = as_floats(dtype, from.get(dst, bytes)), .cols = cols}};
  };
  return call;
}

/// Each step rounds to the type, from float32 or from float64: sums and products of two are the same either
/// way.
std::vector<Expected> ScatterCase::expected(const Roundings&) const {
  return {{.output = run_reference<ScatterCase>(*this, scatter_rows())[0]}};
}

Work ScatterCase::work() const {
  const double bytes = dtype_info(problem.dtype).block_bytes,
               updates = static_cast<double>(outer_ * steps_ * inner_);
  return {.bytes = 3 * bytes * updates + static_cast<double>(indices_.size()), .flops = updates};
}

}  // namespace orrery::kernels::lab
