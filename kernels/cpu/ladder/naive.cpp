// Step 1, cpu.naive: the formula as three loops, in one thread, so that it can be read beside those that
// follow.
//   Changed  nothing yet: element after element of c, each a row of a times a column of b.
//   Faster   than nothing. One sum is in a register, and the row of a is read from end to end.
//   Limit    a column of b is a number from each row: every step touches another cache line and, in large
//            matrices, another page, and uses 4 of its 64 bytes. Each addition also waits for the one before.
#include "kernels/cpu/ladder/steps.h"

namespace orrery::kernels::ladder {
namespace {

template <class T>
void multiply(const Operands<T>& o) {
  for (int64_t i = 0; i < o.m; ++i)
    for (int64_t j = 0; j < o.n; ++j) {
      float sum = 0;
      for (int64_t p = 0; p < o.k; ++p)
        sum += number(o.a[i * o.k + p]) * number(o.b[sizeof(T) == 1 ? j * o.k + p : p * o.n + j]);
      o.c[i * o.n + j] = sum * o.scale;
    }
}

void run(const MatmulLadder::Args& args, const Launch&) {
  if (args.problem.dtype == DType::f32) return multiply(Operands<float>(args));
  if (args.problem.dtype == DType::bf16) return multiply(Operands<uint16_t>(args));
  multiply(Operands<uint8_t>(args));
}

}  // namespace

Row<MatmulLadder> naive_row() {
  return {.name = "cpu.naive",
          .supports = plain_supports<ref::legal>,
          .run = run,
          .source = "cpu/ladder/naive.cpp"};
}

}  // namespace orrery::kernels::ladder
