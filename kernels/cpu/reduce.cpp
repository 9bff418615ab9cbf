// Rows of Reduce. An item is one outer index where inner is 1, else up to 64 columns of one: elements are
// converted a run at a time, and every result is taken in the order of the axis.
#include "kernels/reduce.h"

#include "kernels/cpu/element_runs.h"

namespace orrery::kernels {
namespace {

constexpr int64_t kReduceColumns = 64;

template <class T>
void store_result(const Reduce::Args& args, T value, int64_t place) {
  store_run(args.problem.dst, &value, 1, at(args.problem.dst, args.dst, place), 1);
}

template <Reduce::Function kFunction, class T>
void reduce_row(const Reduce::Args& args, int64_t outer) {
  const DType src = args.problem.src;
  T values[kRun];
  Reduced<kFunction, T> all;
  for (int64_t j = 0; j < args.count; j += kRun) {
    const int64_t n = std::min(kRun, args.count - j);
    load_run(src, at(src, args.src, outer * args.count + j), 1, n, values);
    for (int64_t k = 0; k < n; ++k) all.take(values[k], j + k);
  }
  store_result(args, all.result(args.count), outer);
}

/// Columns [first, first + n) of an outer index.
template <Reduce::Function kFunction, class T>
void reduce_columns(const Reduce::Args& args, int64_t outer, int64_t first, int64_t n) {
  const DType src = args.problem.src;
  T values[kReduceColumns];
  Reduced<kFunction, T> all[kReduceColumns];
  for (int64_t j = 0; j < args.count; ++j) {
    load_run(src, at(src, args.src, (outer * args.count + j) * args.inner + first), 1, n, values);
    for (int64_t i = 0; i < n; ++i) all[i].take(values[i], j);
  }
  for (int64_t i = 0; i < n; ++i)
    store_result(args, all[i].result(args.count), outer * args.inner + first + i);
}

template <Reduce::Function kFunction, class T>
void reduce_all(const Reduce::Args& args, const Launch& launch) {
  const int64_t parts = (args.inner + kReduceColumns - 1) / kReduceColumns;
  const int64_t cost = std::min(args.inner, kReduceColumns) * std::max<int64_t>(args.count, 1);
  split(launch, args.outer * parts, cost, [&](int64_t begin, int64_t end, int) {
    for (int64_t item = begin; item < end; ++item) {
      if (args.inner == 1) {
        reduce_row<kFunction, T>(args, item);
        continue;
      }
      const int64_t first = item % parts * kReduceColumns;
      reduce_columns<kFunction, T>(args, item / parts, first, std::min(kReduceColumns, args.inner - first));
    }
  });
}

void run_reduce(const Reduce::Args& args, const Launch& launch) {
  with_reduce_function(args.problem.function, [&](auto constant) {
    constexpr Reduce::Function kFunction = decltype(constant)::value;
    if (is_float(args.problem.src))
      reduce_all<kFunction, float>(args, launch);
    else if constexpr (kFunction != Reduce::Function::mean)
      reduce_all<kFunction, int64_t>(args, launch);
  });
}

}  // namespace

std::span<const Row<Reduce>> reduce_rows() {
  static const Row<Reduce> rows[] = {
      {.name = "cpu.runs", .supports = on_any_machine<Reduce, ref::legal>, .run = run_reduce},
      {.name = "cpu.reference", .supports = on_any_machine<Reduce, ref::legal>, .run = ref::reduce},
  };
  return rows;
}

}  // namespace orrery::kernels
