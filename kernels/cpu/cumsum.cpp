// Rows of Cumsum. An item is up to 64 columns of one outer index, summed in the order of the axis; of one
// column, a run of the axis is converted at a time.
#include "kernels/cumsum.h"

#include "kernels/cpu/element_runs.h"

namespace orrery::kernels {
namespace {

constexpr int64_t kCumsumColumns = 64;

/// values[k] becomes the sum up to it (or before it), and `sum` that of all.
template <class T, class Sum>
void add_up(bool exclusive, T& value, Sum& sum) {
  const Sum next = sum + static_cast<Sum>(value);
  value = static_cast<T>(exclusive ? sum : next);
  sum = next;
}

template <class T, class Sum>
void sum_row(const Cumsum::Args& args, int64_t outer) {
  T values[kRun];
  Sum sum = 0;
  for (int64_t step = 0; step < args.count; step += kRun) {
    const int64_t n = std::min(kRun, args.count - step);
    const int64_t first = outer * args.count + (args.reverse ? args.count - step - n : step);
    load_run(args.dtype, at(args.dtype, args.src, first), 1, n, values);
    for (int64_t k = 0; k < n; ++k) add_up(args.exclusive, values[args.reverse ? n - 1 - k : k], sum);
    store_run(args.dtype, values, n, at(args.dtype, args.dst, first), 1);
  }
}

template <class T, class Sum>
void sum_columns(const Cumsum::Args& args, int64_t outer, int64_t first, int64_t n) {
  T values[kCumsumColumns];
  Sum sums[kCumsumColumns] = {};
  for (int64_t step = 0; step < args.count; ++step) {
    const int64_t j = args.reverse ? args.count - 1 - step : step;
    const int64_t place = (outer * args.count + j) * args.inner + first;
    load_run(args.dtype, at(args.dtype, args.src, place), 1, n, values);
    for (int64_t i = 0; i < n; ++i) add_up(args.exclusive, values[i], sums[i]);
    store_run(args.dtype, values, n, at(args.dtype, args.dst, place), 1);
  }
}

template <class T, class Sum>
void sum_all(const Cumsum::Args& args, const Launch& launch) {
  const int64_t parts = (args.inner + kCumsumColumns - 1) / kCumsumColumns;
  const int64_t cost = std::min(args.inner, kCumsumColumns) * std::max<int64_t>(args.count, 1);
  split(launch, args.outer * parts, cost, [&](int64_t begin, int64_t end, int) {
    for (int64_t item = begin; item < end; ++item) {
      if (args.inner == 1) {
        sum_row<T, Sum>(args, item);
        continue;
      }
      const int64_t first = item % parts * kCumsumColumns;
      sum_columns<T, Sum>(args, item / parts, first, std::min(kCumsumColumns, args.inner - first));
    }
  });
}

void run_cumsum(const Cumsum::Args& args, const Launch& launch) {
  is_float(args.dtype) ? sum_all<float, double>(args, launch) : sum_all<int64_t, uint64_t>(args, launch);
}

}  // namespace

std::span<const Row<Cumsum>> cumsum_rows() {
  static const Row<Cumsum> rows[] = {
      {.name = "cpu.runs", .supports = on_any_machine<Cumsum, ref::legal>, .run = run_cumsum},
      {.name = "cpu.reference", .supports = on_any_machine<Cumsum, ref::legal>, .run = ref::cumsum},
  };
  return rows;
}

}  // namespace orrery::kernels
