// Rows of Elementwise, fastest first. Pointwise functions are split by elements, the others by rows.
#include "kernels/elementwise.h"

#include <algorithm>

#include "kernels/cpu/isa/pointwise.h"
#include "kernels/cpu/split.h"

namespace orrery::kernels {
namespace {

using Function = Elementwise::Function;
static_assert(static_cast<int>(PointFunction::silu) == static_cast<int>(Function::silu) &&
              static_cast<int>(PointFunction::scale) == static_cast<int>(Function::scale));

constexpr int64_t kChunk = 4096;  // elements; two sources and dst stay in L1

template <const PointwiseTable& kTable>
void run_pointwise(const Elementwise::Args& args, const Launch& launch) {
  const auto function = static_cast<PointFunction>(args.function);
  if (args.broadcast) {
    split(launch, args.tokens, args.cols, [&](int64_t begin, int64_t end, int) {
      for (int64_t t = begin; t < end; ++t) {
        const int64_t row = t * args.cols;
        kTable.apply(function, args.a + row, args.b, args.dst + row, args.cols, args.factor);
      }
    });
    return;
  }
  const int64_t total = args.tokens * args.cols;
  split(launch, (total + kChunk - 1) / kChunk, kChunk, [&](int64_t begin, int64_t end, int) {
    const int64_t first = begin * kChunk;
    const int64_t count = std::min(end * kChunk, total) - first;
    kTable.apply(function, args.a + first, args.b != nullptr ? args.b + first : nullptr, args.dst + first,
                 count, args.factor);
  });
}

template <const PointwiseTable& kTable>
void run(const Elementwise::Args& args, const Launch& launch) {
  if (args.function != Function::l2_normalise) return run_pointwise<kTable>(args, launch);
  split(launch, args.tokens, args.cols, [&](int64_t begin, int64_t end, int) {
    for (int64_t t = begin; t < end; ++t)
      kTable.l2_normalise(args.a + t * args.cols, args.dst + t * args.cols, args.cols);
  });
}

}  // namespace

std::span<const Row<Elementwise>> elementwise_rows() {
  static const Row<Elementwise> rows[] = {
      {.name = "cpu.avx512",
       .supports = legal_on<Elementwise, ref::legal, kAvx512>,
       .run = run<avx512::kPointwise>,
       .source = "cpu/isa/pointwise.cpp"},
      {.name = "cpu.avx2",
       .supports = legal_on<Elementwise, ref::legal, kAvx2>,
       .run = run<avx2::kPointwise>,
       .source = "cpu/isa/pointwise.cpp"},
      {.name = "cpu.reference", .supports = on_any_machine<Elementwise, ref::legal>, .run = ref::elementwise},
  };
  return rows;
}

}  // namespace orrery::kernels
