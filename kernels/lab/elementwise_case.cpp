#include "kernels/lab/elementwise_case.h"

namespace orrery::kernels::lab {

using Function = Elementwise::Function;

ElementwiseCase::ElementwiseCase(const Elementwise::Problem& asked, int64_t tokens, Distribution distribution,
                                 uint32_t seed)
    : ElementwiseCase(
          asked, random_floats(static_cast<size_t>(tokens * asked.cols), seed, 4.0F, distribution),
          random_floats(static_cast<size_t>((asked.broadcast ? 1 : tokens) * asked.cols), seed + 1), 0.37F) {}

bool ElementwiseCase::reads_two() const {
  return problem.function == Function::add || problem.function == Function::mul ||
         problem.function == Function::silu_mul || problem.function == Function::gelu_tanh_mul;
}

Call<Elementwise> ElementwiseCase::place(const Row<Elementwise>&, Place& place) const {
  float* a = place.put(a_);
  float* dst = in_place ? a : place.put(std::vector<float>(a_.size(), -1.0F));
  Call<Elementwise> call;
  call.args = {.function = problem.function,
               .a = a,
               .b = place.put(b_),
               .dst = dst,
               .tokens = static_cast<int64_t>(a_.size()) / problem.cols,
               .cols = problem.cols,
               .broadcast = problem.broadcast,
               .factor = factor_};
  call.read = [dst, count = a_.size(), cols = problem.cols](Place& from) {
    return std::vector<Output>{{.name = "dst", .values = from.get(dst, count), .cols = cols}};
  };
  return call;
}

std::vector<Expected> ElementwiseCase::expected(const Roundings&) const {
  return {{.output = run_reference<ElementwiseCase>(*this, elementwise_rows())[0], .tolerance = tolerance_}};
}

Work ElementwiseCase::work() const {
  const auto elements = static_cast<double>(a_.size());
  return {.bytes = 8 * elements + (reads_two() ? 4.0 * static_cast<double>(b_.size()) : 0.0),
          .flops = elements};
}

}  // namespace orrery::kernels::lab
