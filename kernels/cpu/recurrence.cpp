// Rows of Recurrence. An item is up to 256 columns of one outer index, taken through the axis side by side;
// of one column, a run of the axis is converted at a time.
//   traffic  factor, src and dst once
#include "kernels/recurrence.h"

#include "kernels/cpu/element_runs.h"

namespace orrery::kernels {
namespace {

/// Rounded twice: this file is built for machines without FMA.
float next_of(float factor, float held, float src) { return factor * held + src; }

void recur_row(const Recurrence::Args& args, int64_t outer) {
  float factors[kRun], values[kRun];
  float held = 0;
  for (int64_t step = 0; step < args.count; step += kRun) {
    const int64_t n = std::min(kRun, args.count - step);
    const int64_t first = outer * args.count + (args.reverse ? args.count - step - n : step);
    load_run(args.dtype, at(args.dtype, args.factor, first), 1, n, factors);
    load_run(args.dtype, at(args.dtype, args.src, first), 1, n, values);
    for (int64_t k = 0; k < n; ++k) {
      const int64_t j = args.reverse ? n - 1 - k : k;
      if (step + k > 0) values[j] = next_of(factors[j], held, values[j]);
      held = values[j];
    }
    store_run(args.dtype, values, n, at(args.dtype, args.dst, first), 1);
  }
}

void recur_columns(const Recurrence::Args& args, int64_t outer, int64_t first, int64_t n) {
  float factors[kRun], values[kRun], held[kRun];
  for (int64_t step = 0; step < args.count; ++step) {
    const int64_t j = args.reverse ? args.count - 1 - step : step;
    const int64_t place = (outer * args.count + j) * args.inner + first;
    load_run(args.dtype, at(args.dtype, args.src, place), 1, n, values);
    if (step > 0) {
      load_run(args.dtype, at(args.dtype, args.factor, place), 1, n, factors);
      for (int64_t i = 0; i < n; ++i) values[i] = next_of(factors[i], held[i], values[i]);
    }
    std::copy_n(values, n, held);
    store_run(args.dtype, values, n, at(args.dtype, args.dst, place), 1);
  }
}

void run_recurrence(const Recurrence::Args& args, const Launch& launch) {
  const int64_t parts = (args.inner + kRun - 1) / kRun;
  const int64_t cost = std::min(args.inner, kRun) * std::max<int64_t>(args.count, 1) * 2;
  split(launch, args.outer * parts, cost, [&](int64_t begin, int64_t end, int) {
    for (int64_t item = begin; item < end; ++item) {
      if (args.inner == 1) {
        recur_row(args, item);
        continue;
      }
      const int64_t first = item % parts * kRun;
      recur_columns(args, item / parts, first, std::min(kRun, args.inner - first));
    }
  });
}

}  // namespace

std::span<const Row<Recurrence>> recurrence_rows() {
  static const Row<Recurrence> rows[] = {
      {.name = "cpu.runs", .supports = on_any_machine<Recurrence, ref::legal>, .run = run_recurrence},
      {.name = "cpu.reference", .supports = on_any_machine<Recurrence, ref::legal>, .run = ref::recurrence},
  };
  return rows;
}

}  // namespace orrery::kernels
