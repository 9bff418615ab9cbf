// Rows of Generate. A thread takes pieces, kRun elements at a time, four random ones at once.
#include "kernels/generate.h"

#include "kernels/cpu/element_runs.h"

namespace orrery::kernels {
namespace {

void fill_run(const Generate::Args& args, int64_t first, int64_t n, int64_t* values) {
  for (int64_t k = 0; k < n; ++k) values[k] = in_range<int64_t>(args, first + k);
}
void fill_run(const Generate::Args& args, int64_t first, int64_t n, float* values) {
  if (args.problem.function == Generate::Function::range) {
    for (int64_t k = 0; k < n; ++k) values[k] = in_range<float>(args, first + k);
    return;
  }
  for (int64_t k = 0; k < n; k += 4) {
    float four[4];
    generated_floats(args, (first + k) / 4, four);
    std::copy_n(four, std::min<int64_t>(4, n - k), values + k);
  }
}

template <class T>
void generate_piece(const Generate::Args& args, int64_t begin, int64_t end) {
  static_assert(kRun % 4 == 0 && kRunPiece % kRun == 0);
  T values[kRun];
  for (int64_t i = begin; i < end; i += kRun) {
    const int64_t n = std::min(kRun, end - i);
    fill_run(args, i, n, values);
    store_run(args.problem.dtype, values, n, at(args.problem.dtype, args.dst, i), 1);
  }
}

void generate_pieces(const Generate::Args& args, const Launch& launch) {
  const int64_t pieces = (args.count + kRunPiece - 1) / kRunPiece;
  split(launch, pieces, std::min(args.count, kRunPiece), [&](int64_t begin, int64_t end, int) {
    const int64_t first = begin * kRunPiece, last = std::min(end * kRunPiece, args.count);
    is_float(args.problem.dtype) ? generate_piece<float>(args, first, last)
                                 : generate_piece<int64_t>(args, first, last);
  });
}

}  // namespace

std::span<const Row<Generate>> generate_rows() {
  static const Row<Generate> rows[] = {
      {.name = "cpu.runs", .supports = on_any_machine<Generate, ref::legal>, .run = generate_pieces},
      {.name = "cpu.reference", .supports = on_any_machine<Generate, ref::legal>, .run = ref::generate},
  };
  return rows;
}

}  // namespace orrery::kernels
