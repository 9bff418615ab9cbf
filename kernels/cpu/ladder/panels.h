// How the steps from cpu.packed on go over the matrices; what they differ in is the tile that they multiply
// with (tile.h).
//   First the team copies b into panels as wide as a tile, so that a tile reads its part from end to end; of
//   every 256 steps of k the panels lie one after the other. Then it shares out the blocks of c, up to 96
//   rows by 1,024 columns: a thread copies the part of a that it needs, so that the numbers of a step, or of
//   a tile's run of them, lie side by side, and multiplies it with the panels. A panel's 256 steps stay in L1
//   while a's pass by from L2.
//   Beyond the edges both copies hold zeros, and a tile that is not whole goes by way of a scratch tile.
//   An element of c is summed in parts of 256 steps, whatever lies beside it and whoever takes the block.
//   workspace: b in panels, then each thread's part of a and scratch tile
#pragma once

#include <algorithm>
#include <type_traits>

#include "kernels/cpu/ladder/steps.h"
#include "kernels/cpu/ladder/tile.h"
#include "kernels/cpu/split.h"

namespace orrery::kernels::ladder {

constexpr int64_t kBlockCols = 1024;
constexpr int64_t kBlockSteps = 256;

constexpr int64_t up_to(int64_t size, int64_t multiple) {
  return (size + multiple - 1) / multiple * multiple;
}

/// Stored: the operands' T. Packed: float, or uint16_t for pairs of bf16.
template <class Stored, class Packed, const LadderTile& kTile>
class Panels {
 public:
  static constexpr int64_t kElements = std::is_same_v<Packed, float> ? 1 : 2;  // of k in a step
  static constexpr int64_t kBlockRows = 96 / kTile.rows * kTile.rows;
  static_assert(kBlockSteps % kTile.run == 0);

  Panels(const MatmulLadder::Args& args, const Launch& launch)
      : o_(args), launch_(launch), panels_(reinterpret_cast<Packed*>(launch.workspace)) {
    own_ = launch.workspace + panel_bytes(args.problem);
  }

  static size_t panel_bytes(const MatmulLadder::Problem& problem) {
    return bytes_of(
        static_cast<size_t>(up_to(problem.n, kTile.cols) * up_to(problem.k, kElements * kTile.run)) *
        sizeof(Packed));
  }
  static size_t workspace(const MatmulLadder::Problem& problem, const Machine&, int threads) {
    return panel_bytes(problem) + static_cast<size_t>(threads) * own_bytes();
  }

  void multiply() {
    split(launch_, up_to(o_.n, kTile.cols) / kTile.cols, o_.k * kTile.cols,
          [&](int64_t begin, int64_t end, int) {
            for (int64_t panel = begin; panel < end; ++panel) pack_panel(panel * kTile.cols);
          });
    const int64_t down = up_to(o_.m, kBlockRows) / kBlockRows;
    const int64_t across = up_to(o_.n, kBlockCols) / kBlockCols;
    split(launch_, down * across, std::min(o_.m, kBlockRows) * o_.k,
          [&](int64_t begin, int64_t end, int thread) {
            for (int64_t item = begin; item < end; ++item)
              multiply_block(item / across * kBlockRows, item % across * kBlockCols, thread);
          });
  }

 private:
  static size_t bytes_of(size_t bytes) { return (bytes + 63) / 64 * 64; }
  static size_t block_bytes() { return bytes_of(kBlockRows * kBlockSteps * kElements * sizeof(Packed)); }
  static size_t own_bytes() { return block_bytes() + bytes_of(kTile.rows * kTile.cols * sizeof(float)); }

  static Packed packed(Stored x) {
    if constexpr (std::is_same_v<Stored, Packed>)
      return x;
    else
      return number(x);
  }

  template <int64_t kCount>
  static void spread(const Stored* __restrict from, Packed* __restrict to) {
    for (int64_t j = 0; j < kCount; ++j) to[j * kElements] = packed(from[j]);
  }

  /// Of the part that begins at `first` of k.
  int64_t steps(int64_t first) const {
    return std::min(kBlockSteps, up_to(o_.k - first, kElements * kTile.run) / kElements);
  }
  Packed* panel(int64_t first, int64_t col) const {
    return panels_ + first * up_to(o_.n, kTile.cols) + col * steps(first) * kElements;
  }

  void pack_panel(int64_t col) const {
    const int64_t cols = std::min(kTile.cols, o_.n - col);
    for (int64_t first = 0; first < o_.k; first += kBlockSteps * kElements) {
      Packed* to = panel(first, col);
      for (int64_t step = 0; step < steps(first); ++step, to += kTile.cols * kElements)
        for (int64_t e = 0; e < kElements; ++e) {
          const int64_t p = first + step * kElements + e;
          const int64_t there = p < o_.k ? cols : 0;
          if (there == kTile.cols)
            spread<kTile.cols>(o_.b + p * o_.n + col, to + e);
          else
            for (int64_t j = 0; j < kTile.cols; ++j)
              to[j * kElements + e] = j < there ? packed(o_.b[p * o_.n + col + j]) : Packed{};
        }
    }
  }

  /// Rows from `row` on, a tile's rows at a time.
  void pack_block(int64_t row, int64_t rows, int64_t first, Packed* to) const {
    for (int64_t r = 0; r < up_to(rows, kTile.rows); ++r) {
      Packed* tile = to + r / kTile.rows * kTile.rows * steps(first) * kElements;
      const Stored* from = o_.a + (row + r) * o_.k;
      for (int64_t step = 0; step < steps(first); ++step) {
        const int64_t place = (step / kTile.run * kTile.rows + r % kTile.rows) * kTile.run + step % kTile.run;
        for (int64_t e = 0; e < kElements; ++e) {
          const int64_t p = first + step * kElements + e;
          tile[place * kElements + e] = r < rows && p < o_.k ? packed(from[p]) : Packed{};
        }
      }
    }
  }

  void multiply_block(int64_t row, int64_t begin, int thread) const {
    std::byte* own = own_ + static_cast<size_t>(thread) * own_bytes();
    auto* a = reinterpret_cast<Packed*>(own);
    auto* scratch = reinterpret_cast<float*>(own + block_bytes());
    const int64_t rows = std::min(kBlockRows, o_.m - row), end = std::min(begin + kBlockCols, o_.n);
    for (int64_t first = 0; first < o_.k; first += kBlockSteps * kElements) {
      const int64_t count = steps(first);
      pack_block(row, rows, first, a);
      for (int64_t col = begin; col < end; col += kTile.cols)
        for (int64_t r = 0; r < rows; r += kTile.rows) {
          const Packed* part = a + r * count * kElements;
          float* c = o_.c + (row + r) * o_.n + col;
          if (r + kTile.rows <= rows && col + kTile.cols <= o_.n) {
            kTile.multiply(part, panel(first, col), count, c, o_.n, first > 0);
          } else {
            kTile.multiply(part, panel(first, col), count, scratch, kTile.cols, false);
            add_part(scratch, std::min(kTile.rows, rows - r), std::min(kTile.cols, o_.n - col), c, first > 0);
          }
        }
    }
  }

  void add_part(const float* sums, int64_t rows, int64_t cols, float* c, bool add) const {
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < cols; ++j)
        c[i * o_.n + j] = add ? c[i * o_.n + j] + sums[i * kTile.cols + j] : sums[i * kTile.cols + j];
  }

  Operands<Stored> o_;
  const Launch& launch_;
  Packed* panels_;
  std::byte* own_;
};

/// `run` and `workspace` of a step whose tile multiplies float32: bf16 becomes that when it is packed.
template <const LadderTile& kTile>
void run_floats(const MatmulLadder::Args& args, const Launch& launch) {
  if (args.problem.dtype == DType::f32)
    Panels<float, float, kTile>(args, launch).multiply();
  else
    Panels<uint16_t, float, kTile>(args, launch).multiply();
}
template <const LadderTile& kTile>
size_t float_workspace(const MatmulLadder::Problem& problem, const Machine& machine, int threads) {
  return Panels<float, float, kTile>::workspace(problem, machine, threads);
}

}  // namespace orrery::kernels::ladder
