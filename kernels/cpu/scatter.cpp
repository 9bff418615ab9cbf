// Rows of Scatter. An item is a line, whose steps are taken one after another.
#include "kernels/scatter.h"

#include "kernels/cpu/element_runs.h"

namespace orrery::kernels {
namespace {

template <class T>
void scatter_line(const Scatter::Args& args, int64_t line) {
  const auto [function, dtype, index] = args.problem;
  const auto begin = [&](int operand) { return args.lines.offset(operand, line, args.lines.rank); };
  const int64_t dst = begin(0), updates = begin(1), indices = begin(2);
  for (int64_t step = 0; step < args.steps; ++step) {
    const int64_t place =
        place_of(index, args.indices, indices + step * args.index_step, args.depth, args.sizes, args.strides);
    if (place < 0) continue;
    std::byte* to = at(dtype, args.dst, dst + place);
    T before, update;
    load_run(dtype, to, 1, 1, &before);
    load_run(dtype, at(dtype, args.updates, updates + step * args.update_step), 1, 1, &update);
    const T after = scattered(function, before, update);
    store_run(dtype, &after, 1, to, 1);
  }
}

void scatter_lines(const Scatter::Args& args, const Launch& launch) {
  split(
      launch, args.lines.elements(), std::max<int64_t>(args.steps, 1), [&](int64_t begin, int64_t end, int) {
        for (int64_t line = begin; line < end; ++line)
          is_float(args.problem.dtype) ? scatter_line<float>(args, line) : scatter_line<int64_t>(args, line);
      });
}

}  // namespace

std::span<const Row<Scatter>> scatter_rows() {
  static const Row<Scatter> rows[] = {
      {.name = "cpu.lines", .supports = on_any_machine<Scatter, ref::legal>, .run = scatter_lines},
      {.name = "cpu.reference", .supports = on_any_machine<Scatter, ref::legal>, .run = ref::scatter},
  };
  return rows;
}

}  // namespace orrery::kernels
