#include "kernels/lab/top_k_case.h"

namespace orrery::kernels::lab {

TopKCase::TopKCase(const TopK::Problem& asked, int64_t outer, int64_t count, int64_t inner,
                   std::vector<std::byte> src)
    : problem(asked), outer_(outer), count_(count), inner_(inner), src_(std::move(src)) {
  problem.rows = outer * inner;
  problem.count = count;
}

Call<TopK> TopKCase::place(const Row<TopK>&, Place& place) const {
  const auto put = [&](DType dtype) {
    return place.put(std::vector<std::byte>(row_bytes(dtype, found()).value_or(0), std::byte{1}), dtype);
  };
  std::byte* values = values_wanted ? put(problem.dtype) : nullptr;
  std::byte* indices = put(problem.indices);
  Call<TopK> call;
  call.args = {.problem = problem,
               .outer = outer_,
               .count = count_,
               .inner = inner_,
               .src = place.put(src_, problem.dtype),
               .values = values,
               .indices = indices};
  call.read = [=, asked = problem, found = found(), cols = taken(problem, count_) * inner_](Place& from) {
    const auto read = [&](std::string_view name, DType dtype, const std::byte* memory) {
      return Output{.name = name,
                    .values = as_floats(dtype, from.get(memory, row_bytes(dtype, found).value_or(0))),
                    .cols = cols};
    };
    std::vector<Output> outputs = {read("indices", asked.indices, indices)};
    if (values != nullptr) outputs.push_back(read("values", asked.dtype, values));
    return outputs;
  };
  return call;
}

std::vector<Expected> TopKCase::expected(const Roundings&) const {
  std::vector<Expected> expected;
  for (Output& output : run_reference<TopKCase>(*this, top_k_rows()))
    expected.push_back({.output = std::move(output)});
  return expected;
}

/// A comparison an element.
Work TopKCase::work() const {
  const int of_value = values_wanted ? dtype_info(problem.dtype).block_bytes : 0;
  return {.bytes = static_cast<double>(src_.size()) +
                   static_cast<double>(found()) * (of_value + dtype_info(problem.indices).block_bytes),
          .flops = static_cast<double>(outer_ * count_ * inner_)};
}

}  // namespace orrery::kernels::lab
