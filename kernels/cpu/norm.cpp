// Rows of Norm, fastest first. Tokens are split over the team; isa/pointwise.cpp does one row at a time.
#include "kernels/norm.h"

#include "kernels/cpu/isa/pointwise.h"
#include "kernels/cpu/split.h"

namespace orrery::kernels {
namespace {

template <const PointwiseTable& kTable>
void run(const Norm::Args& args, const Launch& launch) {
  const auto one_row = args.kind == Norm::Kind::rms ? kTable.rms_norm : kTable.layer_norm;
  const auto at = [](auto* base, int64_t offset) { return base != nullptr ? base + offset : nullptr; };
  split(launch, args.tokens, args.cols, [&](int64_t begin, int64_t end, int) {
    for (int64_t t = begin; t < end; ++t) {
      const int64_t row = t * args.cols, weights = t % args.weight_rows * args.cols;
      one_row({args.src + row, at(args.residual, row), at(args.sum, row), args.dst + row,
               args.weight + weights, at(args.bias, weights), args.cols, args.eps});
    }
  });
}

}  // namespace

std::span<const Row<Norm>> norm_rows() {
  static const Row<Norm> rows[] = {
      {.name = "cpu.avx512", .supports = legal_on<Norm, ref::legal, kAvx512>, .run = run<avx512::kPointwise>},
      {.name = "cpu.avx2", .supports = legal_on<Norm, ref::legal, kAvx2>, .run = run<avx2::kPointwise>},
      {.name = "cpu.reference", .supports = on_any_machine<Norm, ref::legal>, .run = ref::norm},
  };
  return rows;
}

}  // namespace orrery::kernels
