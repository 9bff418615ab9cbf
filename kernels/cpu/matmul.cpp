// Rows of Matmul, fastest first. An item is one block of dst of one batch; its thread converts and packs the
// parts of a and b that it needs, kMatmulDepth deep at a time, and adds their product to the block's sums.
// So a sum has one order whatever the blocks and threads, and strides and types matter to packing only.
#include "kernels/matmul.h"

#include <algorithm>

#include "kernels/cpu/element_runs.h"
#include "kernels/cpu/isa/matmul.h"
#include "kernels/cpu/split.h"

namespace orrery::kernels {
namespace {

/// Of one thread.
struct Buffers {
  float a[kMatmulRows * kMatmulDepth];
  float b[kMatmulDepth * kMatmulCols];
  float sums[kMatmulRows * kMatmulCols];
};
static_assert(sizeof(Buffers) % 64 == 0);

/// Where a block lies.
struct Block {
  int64_t batch, row, col, rows, cols;
};

void pack_a(const Matmul::Args& args, const Block& block, int64_t first, int64_t depth, Buffers& to) {
  const int64_t base = args.batch.offset(0, block.batch, args.batch.rank) + first * args.a_depth;
  const int64_t padded = (block.rows + kMatmulTileRows - 1) / kMatmulTileRows * kMatmulTileRows;
  for (int64_t r = 0; r < padded; ++r) {
    float* row = to.a + r * kMatmulDepth;
    if (r < block.rows)
      load_run(args.a_type, at(args.a_type, args.a, base + (block.row + r) * args.a_row), args.a_depth, depth,
               row);
    else
      std::fill_n(row, depth, 0.0F);
  }
}

void pack_b(const Matmul::Args& args, const Block& block, int64_t first, int64_t depth, Buffers& to) {
  const int64_t base = args.batch.offset(1, block.batch, args.batch.rank) + block.col * args.b_col;
  for (int64_t k = 0; k < depth; ++k) {
    float* row = to.b + k * kMatmulCols;
    load_run(args.b_type, at(args.b_type, args.b, base + (first + k) * args.b_depth), args.b_col, block.cols,
             row);
    std::fill(row + block.cols, row + kMatmulCols, 0.0F);
  }
}

template <const MatmulTable& kTable>
void one_block(const Matmul::Args& args, const Block& block, Buffers& buffers) {
  std::fill(std::begin(buffers.sums), std::end(buffers.sums), 0.0F);
  for (int64_t first = 0; first < args.depth; first += kMatmulDepth) {
    const int64_t depth = std::min(kMatmulDepth, args.depth - first);
    pack_a(args, block, first, depth, buffers);
    pack_b(args, block, first, depth, buffers);
    kTable.multiply(buffers.a, buffers.b, block.rows, depth, buffers.sums);
  }
  for (int64_t r = 0; r < block.rows; ++r) {
    const int64_t to = (block.batch * args.rows + block.row + r) * args.cols + block.col;
    store_run(args.dst_type, buffers.sums + r * kMatmulCols, block.cols, at(args.dst_type, args.dst, to), 1);
  }
}

template <const MatmulTable& kTable>
void run(const Matmul::Args& args, const Launch& launch) {
  const int64_t down = (args.rows + kMatmulRows - 1) / kMatmulRows;
  const int64_t across = (args.cols + kMatmulCols - 1) / kMatmulCols;
  const int64_t each = std::min(args.rows, kMatmulRows) * (args.depth + 1);
  auto* buffers = reinterpret_cast<Buffers*>(launch.workspace);
  split(launch, args.batch.elements() * down * across, each, [&](int64_t begin, int64_t end, int thread) {
    for (int64_t item = begin; item < end; ++item) {
      Block block{item / (down * across), item / across % down * kMatmulRows, item % across * kMatmulCols, 0,
                  0};
      block.rows = std::min(kMatmulRows, args.rows - block.row);
      block.cols = std::min(kMatmulCols, args.cols - block.col);
      one_block<kTable>(args, block, buffers[thread]);
    }
  });
}

size_t workspace(const Matmul::Problem&, const Machine&, int threads) {
  return static_cast<size_t>(threads) * sizeof(Buffers);
}

}  // namespace

std::span<const Row<Matmul>> matmul_rows() {
  static const Row<Matmul> rows[] = {
      {.name = "cpu.avx512",
       .supports = legal_on<Matmul, ref::legal, kAvx512>,
       .run = run<avx512::kMatmul>,
       .workspace = workspace,
       .source = "cpu/isa/matmul.cpp"},
      {.name = "cpu.avx2",
       .supports = legal_on<Matmul, ref::legal, kAvx2>,
       .run = run<avx2::kMatmul>,
       .workspace = workspace,
       .source = "cpu/isa/matmul.cpp"},
      {.name = "cpu.reference", .supports = on_any_machine<Matmul, ref::legal>, .run = ref::matmul},
  };
  return rows;
}

}  // namespace orrery::kernels
