// Numbers put where others say, reference. One thread.
#include "kernels/scatter.h"

#include "kernels/ref/element.h"

namespace orrery::kernels::ref {

std::string legal(const Scatter::Problem& problem) {
  if (!is_element(problem.dtype))
    return std::string(name_of(problem.dtype)) + " is how weights are stored, not elements";
  if (problem.dtype == DType::boolean && problem.function != Scatter::Function::set)
    return "bools are no numbers";
  return wrong_index(problem.index);
}

void scatter(const Scatter::Args& args, const Launch&) {
  const auto [function, dtype, index] = args.problem;
  for (int64_t line = 0; line < args.lines.elements(); ++line) {
    const auto begin = [&](int operand) { return args.lines.offset(operand, line, args.lines.rank); };
    for (int64_t step = 0; step < args.steps; ++step) {
      const int64_t place = place_of(index, args.indices, begin(2) + step * args.index_step, args.depth,
                                     args.sizes, args.strides);
      if (place < 0) continue;
      const int64_t to = begin(0) + place, from = begin(1) + step * args.update_step;
      if (is_float(dtype))
        put_real(dtype, scattered(function, real_at(dtype, args.dst, to), real_at(dtype, args.updates, from)),
                 args.dst, to);
      else
        put_integer(
            dtype,
            scattered(function, integer_at(dtype, args.dst, to), integer_at(dtype, args.updates, from)),
            args.dst, to);
    }
  }
}

}  // namespace orrery::kernels::ref
