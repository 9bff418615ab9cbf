// Step 2, cpu.blocked: the same products in another order, still in one thread.
//   Changed  the loops run over tiles of b, 64 rows of 128 numbers; within one, a number of a is multiplied
//            with a row of the tile and added to a row of c.
//   Faster   rows of b and c are read from end to end, so that whole cache lines are used; the 32 KB of a
//            tile stay in L1 for all rows of a; and the sums of a row do not wait for each other.
//   Limit    each product loads and stores a sum, and the compiler, which does not know how long rows are,
//            makes one product at a time.
#include <algorithm>

#include "kernels/cpu/ladder/steps.h"

namespace orrery::kernels::ladder {
namespace {

constexpr int64_t kDepth = 64, kCols = 128;

/// c += a b over a tile of b.
template <class T>
void multiply_tile(const Operands<T>& o, int64_t first, int64_t depth, int64_t col, int64_t cols) {
  for (int64_t i = 0; i < o.m; ++i)
    for (int64_t p = first; p < first + depth; ++p) {
      const float x = number(o.a[i * o.k + p]);
      const T* row = o.b + p * o.n + col;
      float* sums = o.c + i * o.n + col;
      for (int64_t j = 0; j < cols; ++j) sums[j] += x * number(row[j]);
    }
}

template <class T>
void multiply(const Operands<T>& o) {
  std::fill_n(o.c, o.m * o.n, 0.0F);
  for (int64_t col = 0; col < o.n; col += kCols)
    for (int64_t first = 0; first < o.k; first += kDepth)
      multiply_tile(o, first, std::min(kDepth, o.k - first), col, std::min(kCols, o.n - col));
}

void run(const MatmulLadder::Args& args, const Launch&) {
  args.problem.dtype == DType::f32 ? multiply(Operands<float>(args)) : multiply(Operands<uint16_t>(args));
}

}  // namespace

Row<MatmulLadder> blocked_row() {
  return {.name = "cpu.blocked",
          .supports = plain_supports<ref::legal_along_n>,
          .run = run,
          .source = "cpu/ladder/blocked.cpp"};
}

}  // namespace orrery::kernels::ladder
