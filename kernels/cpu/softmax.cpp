// Rows of Softmax, fastest first. f32 over the last axis: a row at a time, as Elementwise does. Else an item
// is a row, a run of it at a time, or some columns of one outer index.
#include "kernels/softmax.h"

#include <cmath>
#include <limits>

#include "kernels/cpu/element_runs.h"
#include "kernels/cpu/isa/pointwise.h"
#include "kernels/cpu/split.h"

namespace orrery::kernels {
namespace {

constexpr int64_t kColumns = 64;
constexpr float kNothing = -std::numeric_limits<float>::infinity();

template <const PointwiseTable& kTable>
void run_rows(const Softmax::Args& args, const Launch& launch) {
  const auto* src = static_cast<const float*>(args.src);
  auto* dst = static_cast<float*>(args.dst);
  if (args.count == 0) return;
  split(launch, args.outer, args.count, [&](int64_t begin, int64_t end, int) {
    for (int64_t o = begin; o < end; ++o)
      kTable.softmax(src + o * args.count, dst + o * args.count, args.count);
  });
}

/// What an element comes to, of the largest and the sum of the exponentials.
float result(bool log, float x, float largest, double sum) {
  if (largest == kNothing) return log ? kNothing : 0.0F;
  if (log) return static_cast<float>(static_cast<double>(x - largest) - std::log(sum));
  return static_cast<float>(std::exp(x - largest) / sum);
}

/// One row, of any type: three passes, a run at a time.
void row(const Softmax::Args& args, int64_t outer) {
  float values[kRun];
  const int64_t first = outer * args.count;
  const auto each_run = [&](auto&& visit) {
    for (int64_t i = 0; i < args.count; i += kRun) {
      const int64_t n = std::min(kRun, args.count - i);
      load_run(args.dtype, at(args.dtype, args.src, first + i), 1, n, values);
      visit(i, n);
    }
  };
  float largest = kNothing;
  each_run([&](int64_t, int64_t n) {
    for (int64_t k = 0; k < n; ++k) largest = std::max(largest, values[k]);
  });
  double sum = 0;
  each_run([&](int64_t, int64_t n) {
    for (int64_t k = 0; k < n; ++k) sum += std::exp(values[k] - largest);
  });
  each_run([&](int64_t i, int64_t n) {
    for (int64_t k = 0; k < n; ++k) values[k] = result(args.log, values[k], largest, sum);
    store_run(args.dtype, values, n, at(args.dtype, args.dst, first + i), 1);
  });
}

void run_runs(const Softmax::Args& args, const Launch& launch) {
  split(launch, args.outer, args.count, [&](int64_t begin, int64_t end, int) {
    for (int64_t o = begin; o < end; ++o) row(args, o);
  });
}

/// Columns [first, first + n) of an outer index, n <= kColumns: three passes over the axis.
void columns(const Softmax::Args& args, int64_t outer, int64_t first, int64_t n) {
  float largest[kColumns], values[kColumns];
  double sums[kColumns] = {};
  std::fill_n(largest, n, kNothing);
  const auto place = [&](int64_t j) { return (outer * args.count + j) * args.inner + first; };
  const auto load = [&](int64_t j) {
    load_run(args.dtype, at(args.dtype, args.src, place(j)), 1, n, values);
  };
  for (int64_t j = 0; j < args.count; ++j) {
    load(j);
    for (int64_t i = 0; i < n; ++i) largest[i] = std::max(largest[i], values[i]);
  }
  for (int64_t j = 0; j < args.count; ++j) {
    load(j);
    for (int64_t i = 0; i < n; ++i)
      sums[i] += largest[i] == kNothing ? 1.0F : std::exp(values[i] - largest[i]);
  }
  for (int64_t j = 0; j < args.count; ++j) {
    load(j);
    for (int64_t i = 0; i < n; ++i) values[i] = result(args.log, values[i], largest[i], sums[i]);
    store_run(args.dtype, values, n, at(args.dtype, args.dst, place(j)), 1);
  }
}

void run_columns(const Softmax::Args& args, const Launch& launch) {
  const int64_t parts = (args.inner + kColumns - 1) / kColumns;
  split(launch, args.outer * parts, std::min(args.inner, kColumns) * args.count,
        [&](int64_t begin, int64_t end, int) {
          for (int64_t item = begin; item < end; ++item) {
            const int64_t first = item % parts * kColumns;
            columns(args, item / parts, first, std::min(kColumns, args.inner - first));
          }
        });
}

template <CpuFeatures features>
std::string supports_rows(const Softmax::Problem& problem, const Machine& machine) {
  if (std::string reason = ref::legal(problem); !reason.empty()) return reason;
  if (problem.dtype != DType::f32) return std::string(name_of(problem.dtype)) + "; it takes f32";
  if (!problem.last) return "not the last axis; it takes rows";
  if (problem.log) return "logarithms; it gives probabilities";
  return missing(features, machine);
}

std::string supports_last(const Softmax::Problem& problem, const Machine&) {
  if (std::string reason = ref::legal(problem); !reason.empty()) return reason;
  return problem.last ? "" : "not the last axis; it takes rows";
}

}  // namespace

std::span<const Row<Softmax>> softmax_rows() {
  static const Row<Softmax> rows[] = {
      {.name = "cpu.avx512", .supports = supports_rows<kAvx512>, .run = run_rows<avx512::kPointwise>},
      {.name = "cpu.avx2", .supports = supports_rows<kAvx2>, .run = run_rows<avx2::kPointwise>},
      {.name = "cpu.runs", .supports = supports_last, .run = run_runs},
      {.name = "cpu.columns", .supports = on_any_machine<Softmax, ref::legal>, .run = run_columns},
      {.name = "cpu.reference", .supports = on_any_machine<Softmax, ref::legal>, .run = ref::softmax},
  };
  return rows;
}

}  // namespace orrery::kernels
