// Rows of Embedding, fastest first. Tokens are split over the team; each row of the table is read as stored.
#include "kernels/embedding.h"

#include <algorithm>

#include "kernels/cpu/split.h"
#include "kernels/linear.h"

namespace orrery::kernels {
namespace {

void run(const Embedding::Args& args, const Launch& launch) {
  const size_t stride = row_bytes(args.dtype, args.cols).value_or(0);
  const auto* table = static_cast<const std::byte*>(args.table);
  split(launch, args.tokens, args.cols, [&](int64_t begin, int64_t end, int) {
    for (int64_t t = begin; t < end; ++t) {
      float* dst = args.dst + t * args.cols;
      const int64_t id = args.ids != nullptr ? args.ids[t] : t;
      if (id < 0 || id >= args.vocabulary) {
        std::fill_n(dst, args.cols, 0.0F);
        continue;
      }
      dequantise_row(args.dtype, table + static_cast<size_t>(id) * stride, args.cols, dst);
      if (args.scale == 1.0F) continue;
      for (int64_t c = 0; c < args.cols; ++c) dst[c] *= args.scale;
    }
  });
}

}  // namespace

std::span<const Row<Embedding>> embedding_rows() {
  static const Row<Embedding> rows[] = {
      {.name = "cpu.rows", .supports = on_any_machine<Embedding, ref::legal>, .run = run},
      {.name = "cpu.reference", .supports = on_any_machine<Embedding, ref::legal>, .run = ref::embedding},
  };
  return rows;
}

}  // namespace orrery::kernels
