// Rows of Hann (hann.h): as sin^2(pi i / m), which is as exact near 0 as elsewhere. An item is an element.
#include "kernels/hann.h"

#include <cmath>
#include <numbers>

#include "kernels/cpu/element_runs.h"

namespace orrery::kernels {
namespace {

void run_sines(const Hann::Args& args, const Launch& launch) {
  const auto period = static_cast<double>(args.periodic ? args.count : args.count - 1);
  split(launch, args.count, 32, [&](int64_t begin, int64_t end, int) {
    float values[kRun];
    for (int64_t first = begin; first < end; first += kRun) {
      const int64_t n = std::min(kRun, end - first);
      for (int64_t i = 0; i < n; ++i) {
        const double sine = std::sin(std::numbers::pi * static_cast<double>(first + i) / period);
        values[i] = args.count == 1 ? 1.0F : static_cast<float>(sine * sine);
      }
      store_run(args.dtype, values, n, at(args.dtype, args.dst, first), 1);
    }
  });
}

}  // namespace

std::span<const Row<Hann>> hann_rows() {
  static const Row<Hann> rows[] = {
      {.name = "cpu.sines", .supports = on_any_machine<Hann, ref::legal>, .run = run_sines},
      {.name = "cpu.reference", .supports = on_any_machine<Hann, ref::legal>, .run = ref::hann},
  };
  return rows;
}

}  // namespace orrery::kernels
