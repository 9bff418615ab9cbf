// Rows of Combine. An item is a run of the innermost dim, kRun elements at a time: operands are converted
// into buffers, combined there, and the result is converted on the way out.
#include "kernels/combine.h"

#include "kernels/cpu/element_runs.h"
#include "kernels/cpu/split.h"

namespace orrery::kernels {
namespace {

using Function = Combine::Function;

constexpr int64_t kPiece = 4096;  // elements of an item at most

template <class T>
void apply(Function function, const T* a, const T* b, const int64_t* condition, int64_t n, T* dst) {
  const auto each = [&](auto constant) {
    for (int64_t i = 0; i < n; ++i) dst[i] = combined<T>(constant.value, a[i], b[i]);
  };
  const auto of = [&]<Function kFunction>() { each(std::integral_constant<Function, kFunction>{}); };
  switch (function) {
    case Function::add:
      return of.template operator()<Function::add>();
    case Function::sub:
      return of.template operator()<Function::sub>();
    case Function::mul:
      return of.template operator()<Function::mul>();
    case Function::div:
      return of.template operator()<Function::div>();
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
  const int outer = walk.rank - 1;
  const int64_t n = walk.sizes[outer];
  const int64_t total = walk.elements();
  if (total == 0) return;
  const int64_t pieces = (n + kPiece - 1) / kPiece;
  split(launch, total / n * pieces, std::min(n, kPiece), [&](int64_t begin, int64_t end, int) {
    for (int64_t item = begin; item < end; ++item) {
      const int64_t first = item % pieces * kPiece;
      int64_t offsets[4];
      for (int o = 0; o < 4; ++o)
        offsets[o] = walk.offset(o, item / pieces, outer) + first * walk.strides[o][outer];
      const int64_t count = std::min(kPiece, n - first);
      if (is_float(args.problem.common))
        combine_run<float>(args, walk, offsets, count);
      else
        combine_run<int64_t>(args, walk, offsets, count);
    }
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
