// Rows of Combine. An item is a run of the innermost dim, kRun elements at a time: operands are converted
// into buffers, combined there, and the result is converted on the way out.
#include "kernels/combine.h"

#include "kernels/cpu/element_runs.h"

namespace orrery::kernels {
namespace {

using Function = Combine::Function;

template <class T>
void apply(Function function, const T* a, const T* b, const int64_t* condition, int64_t n, T* dst) {
  const auto each = [&](auto constant) {
    for (int64_t i = 0; i < n; ++i) dst[i] = combined<T>(constant.value, a[i], b[i]);
  };
  switch (function) {
#define ORRERY_COMBINED(name) \
  case Function::name:        \
    return each(std::integral_constant<Function, Function::name>{});
    ORRERY_COMBINED(add)
    ORRERY_COMBINED(sub)
    ORRERY_COMBINED(mul)
    ORRERY_COMBINED(div)
    ORRERY_COMBINED(maximum)
    ORRERY_COMBINED(minimum)
#undef ORRERY_COMBINED
    case Function::where:
      for (int64_t i = 0; i < n; ++i) dst[i] = condition[i] != 0 ? a[i] : b[i];
      return;
    default:
      for (int64_t i = 0; i < n; ++i) dst[i] = combined<T>(function, a[i], b[i]);
  }
}

template <class T>
void combine_run(const Combine::Args& args, const Walk<4>& walk, const int64_t* offsets, int64_t n) {
  T a[kRun], b[kRun], dst[kRun];
  int64_t condition[kRun];
  const Combine::Problem& problem = args.problem;
  const int inner = walk.rank - 1;
  for (int64_t i = 0; i < n; i += kRun) {
    const int64_t count = std::min(kRun, n - i);
    const auto place = [&](int operand) { return offsets[operand] + i * walk.strides[operand][inner]; };
    load_run(problem.a, at(problem.a, args.a, place(0)), walk.strides[0][inner], count, a);
    load_run(problem.b, at(problem.b, args.b, place(1)), walk.strides[1][inner], count, b);
    if (problem.function == Function::where)
      load_run(DType::boolean, args.condition + place(2), walk.strides[2][inner], count, condition);
    apply(problem.function, a, b, condition, count, dst);
    store_run(problem.dst, dst, count, at(problem.dst, args.dst, place(3)), walk.strides[3][inner]);
  }
}

void run(const Combine::Args& args, const Launch& launch) {
  const Walk<4> walk = collapsed(args.walk);
  split_runs(launch, walk, [&](const int64_t* where, int64_t count) {
    if (is_float(args.problem.common))
      combine_run<float>(args, walk, where, count);
    else
      combine_run<int64_t>(args, walk, where, count);
  });
}

}  // namespace

std::span<const Row<Combine>> combine_rows() {
  static const Row<Combine> rows[] = {
      {.name = "cpu.runs", .supports = on_any_machine<Combine, ref::legal>, .run = run},
      {.name = "cpu.reference", .supports = on_any_machine<Combine, ref::legal>, .run = ref::combine},
  };
  return rows;
}

}  // namespace orrery::kernels
