// Rows of DropoutNorm and of its gradients, fastest first; isa/dropout_norm.cpp does one row at a time. An
// item of the forward call is a row; one of the backward call is a part of the rows, whose sums over rows lie
// in the workspace, in float64, until all parts are done.
#include "kernels/dropout_norm.h"

#include <cstring>

#include "kernels/cpu/isa/dropout_norm.h"
#include "kernels/cpu/split.h"

namespace orrery::kernels {
namespace {

/// Room for a row of a thread.
int64_t padded(int64_t cols) { return (cols + kMaskColumns - 1) / kMaskColumns * kMaskColumns; }

/// The element where a row begins; null stays null.
const void* row_at(const void* base, DType dtype, int64_t element) {
  return base != nullptr ? static_cast<const std::byte*>(base) + element * dtype_info(dtype).block_bytes
                         : nullptr;
}
void* row_at(void* base, DType dtype, int64_t element) {
  return const_cast<void*>(row_at(static_cast<const void*>(base), dtype, element));
}

/// Null where there is no such row.
const void* row_of(const void* base, DType dtype, int64_t row, int64_t cols) {
  return row >= 0 ? row_at(base, dtype, row * cols) : nullptr;
}
void* row_of(void* base, DType dtype, int64_t row, int64_t cols) {
  return row >= 0 ? row_at(base, dtype, row * cols) : nullptr;
}

void zero_rows(const Launch& launch, DType dtype, int64_t rows, int64_t cols, void* base) {
  split(launch, rows, cols, [&](int64_t begin, int64_t end, int) {
    const int bytes = dtype_info(dtype).block_bytes;
    std::memset(row_at(base, dtype, begin * cols), 0, static_cast<size_t>((end - begin) * cols * bytes));
  });
}

template <class Args>
DropoutRow mask_of(const Args& args, int64_t row, float* factors) {
  const Dropout& dropout = args.dropout;
  const float all = dropout.scale * args.subset.row_factor;
  const float kept = args.rowscale != nullptr ? args.rowscale[row] * all : all;
  return {dropout.seed(), dropout.stream, row, dropout.most, dropout.drops(), kept, factors};
}

/// Of the second source, which nothing but dropout scales.
template <class Args>
DropoutRow second_mask_of(const Args& args, int64_t row, float* factors) {
  const Dropout dropout = args.dropout.of(Dropout::kSecondNormStream);
  return {dropout.seed(), dropout.stream, row, dropout.most, dropout.drops(), dropout.scale, factors};
}

/// Rows that a thread has room for: masks, and x of the forward call.
int64_t forward_rooms(const DropoutNorm::Problem& problem) { return problem.parallel ? 3 : 2; }
int64_t backward_rooms(const DropoutNormBackward::Problem& problem) { return problem.parallel ? 2 : 1; }

size_t forward_workspace(const DropoutNorm::Problem& problem, const Machine&, int threads) {
  return static_cast<size_t>(std::max(threads, 1) * forward_rooms(problem) * padded(problem.cols)) *
         sizeof(float);
}

template <const DropoutNormTable& kTable>
void run_forward(const DropoutNorm::Args& args, const Launch& launch) {
  const auto [kind, cols, src, residual, x, parallel] = args.problem;
  const int64_t room = padded(cols), rooms_of_thread = forward_rooms(args.problem);
  auto* rooms = reinterpret_cast<float*>(launch.workspace);
  const NormRows& subset = args.subset;
  if (subset.out_rows != nullptr && args.out != nullptr)
    zero_rows(launch, src, subset.out_count, cols, args.out);
  if (subset.out_rows != nullptr && args.out2 != nullptr)
    zero_rows(launch, src, subset.out_count, cols, args.out2);
  if (subset.out_rows != nullptr && args.quantised != nullptr) {
    zero_rows(launch, DType::i8, subset.out_count, cols, args.quantised);
    zero_rows(launch, DType::f32, subset.out_count, 1, args.scales);
  }
  split(launch, args.rows, cols, [&](int64_t begin, int64_t end, int thread) {
    float* own = rooms + thread * rooms_of_thread * room;
    for (int64_t row = begin; row < end; ++row) {
      const int64_t out_row = subset.out_of(row);
      kTable.forward({.src_type = src,
                      .residual_type = residual,
                      .x_type = x,
                      .layer = kind == Norm::Kind::layer,
                      .parallel = parallel,
                      .cols = cols,
                      .eps = args.eps,
                      .dropout = mask_of(args, row, own),
                      .dropout2 = second_mask_of(args, row, own + 2 * room),
                      .src = row_of(args.src, src, subset.src_of(row), cols),
                      .src2 = row_at(args.src2, src, row * cols),
                      .residual = row_at(args.residual, residual, row * cols),
                      .weight = args.weight,
                      .bias = args.bias,
                      .weight2 = args.weight2,
                      .bias2 = args.bias2,
                      .colscale = args.colscale,
                      .x = own + room,
                      .out = row_of(args.out, src, out_row, cols),
                      .out2 = row_of(args.out2, src, out_row, cols),
                      .quantised = static_cast<int8_t*>(row_of(args.quantised, DType::i8, out_row, cols)),
                      .scale = static_cast<float*>(row_of(args.scales, DType::f32, out_row, 1)),
                      .residual_out = row_at(args.residual_out, x, row * cols)});
    }
  });
}

/// How the rows are taken in parts: by the sizes of the call alone.
struct Parts {
  int64_t rows = 0, count = 0;  // rows of each part but the last

  static int64_t most(int64_t cols) { return std::clamp<int64_t>((1 << 19) / cols, 8, 64); }
  Parts(int64_t all, int64_t cols) : rows((all + most(cols) - 1) / most(cols)) {
    count = rows > 0 ? (all + rows - 1) / rows : 0;
  }
};

constexpr int kSums = 5;  // of weight, bias, colscale, weight2, bias2
int sums_of(const DropoutNormBackward::Problem& problem) { return problem.parallel ? kSums : kSums - 2; }
constexpr int64_t kAddedColumns = 256;  // whose parts a thread adds at a time

size_t backward_workspace(const DropoutNormBackward::Problem& problem, const Machine&, int threads) {
  const int64_t sums = sums_of(problem) * Parts::most(problem.cols) * problem.cols;
  return static_cast<size_t>(sums) * sizeof(double) +
         static_cast<size_t>(std::max(threads, 1) * backward_rooms(problem) * padded(problem.cols)) *
             sizeof(float);
}

template <const DropoutNormTable& kTable>
void run_backward(const DropoutNormBackward::Args& args, const Launch& launch) {
  const auto [kind, cols, src, x, parallel] = args.problem;
  const Parts parts(args.rows, cols);
  const int count = sums_of(args.problem);
  auto* sums = reinterpret_cast<double*>(launch.workspace);
  auto* rooms = reinterpret_cast<float*>(sums + count * Parts::most(cols) * cols);
  float* const wanted[kSums] = {args.grad_weight, args.grad_bias, args.grad_colscale, args.grad_weight2,
                                args.grad_bias2};
  const auto sum_of = [&](int which, int64_t part) {
    return wanted[which] != nullptr ? sums + (part * count + which) * cols : nullptr;
  };
  const NormRows& subset = args.subset;
  if (subset.src_rows != nullptr && args.grad_src != nullptr)
    zero_rows(launch, src, subset.src_count, cols, args.grad_src);
  split(launch, parts.count, parts.rows * cols, [&](int64_t begin, int64_t end, int thread) {
    float* own = rooms + thread * backward_rooms(args.problem) * padded(cols);
    for (int64_t part = begin; part < end; ++part) {
      std::fill_n(sums + part * count * cols, count * cols, 0.0);
      const int64_t last = std::min(args.rows, (part + 1) * parts.rows);
      for (int64_t row = part * parts.rows; row < last; ++row) {
        const int64_t src_row = subset.src_of(row);
        kTable.backward({.src_type = src,
                         .x_type = x,
                         .layer = kind == Norm::Kind::layer,
                         .parallel = parallel,
                         .cols = cols,
                         .eps = args.eps,
                         .dropout = mask_of(args, row, own),
                         .dropout2 = second_mask_of(args, row, own + padded(cols)),
                         .grad_out = row_of(args.grad_out, src, subset.out_of(row), cols),
                         .grad_out2 = row_of(args.grad_out2, src, subset.out_of(row), cols),
                         .grad_residual_out = row_at(args.grad_residual_out, x, row * cols),
                         .x = row_at(args.x, x, row * cols),
                         .src = row_of(args.src, src, src_row, cols),
                         .weight = args.weight,
                         .weight2 = args.weight2,
                         .colscale = args.colscale,
                         .grad_src = row_of(args.grad_src, src, src_row, cols),
                         .grad_src2 = row_at(args.grad_src2, src, row * cols),
                         .grad_residual = row_at(args.grad_residual, x, row * cols),
                         .sum_weight = sum_of(0, part),
                         .sum_bias = sum_of(1, part),
                         .sum_weight2 = sum_of(3, part),
                         .sum_bias2 = sum_of(4, part),
                         .sum_colscale = src_row >= 0 ? sum_of(2, part) : nullptr});
      }
    }
  });
  const int64_t blocks = (cols + kAddedColumns - 1) / kAddedColumns;
  split(launch, blocks, kAddedColumns * (parts.count + 1), [&](int64_t begin, int64_t end, int) {
    for (int which = 0; which < count; ++which)
      for (int64_t c = begin * kAddedColumns;
           wanted[which] != nullptr && c < std::min(end * kAddedColumns, cols); ++c) {
        double sum = 0;
        for (int64_t part = 0; part < parts.count; ++part) sum += sum_of(which, part)[c];
        wanted[which][c] = static_cast<float>(sum);
      }
  });
}

}  // namespace

std::span<const Row<DropoutNorm>> dropout_norm_rows() {
  using Op = DropoutNorm;
  static const Row<Op> rows[] = {
      {.name = "cpu.avx512",
       .supports = legal_on<Op, ref::legal, kAvx512>,
       .run = run_forward<avx512::kDropoutNorm>,
       .workspace = forward_workspace,
       .source = "cpu/isa/dropout_norm.cpp"},
      {.name = "cpu.avx2",
       .supports = legal_on<Op, ref::legal, kAvx2>,
       .run = run_forward<avx2::kDropoutNorm>,
       .workspace = forward_workspace,
       .source = "cpu/isa/dropout_norm.cpp"},
      {.name = "cpu.reference", .supports = on_any_machine<Op, ref::legal>, .run = ref::dropout_norm},
  };
  return rows;
}

std::span<const Row<DropoutNormBackward>> dropout_norm_backward_rows() {
  using Op = DropoutNormBackward;
  static const Row<Op> rows[] = {
      {.name = "cpu.avx512",
       .supports = legal_on<Op, ref::legal, kAvx512>,
       .run = run_backward<avx512::kDropoutNorm>,
       .workspace = backward_workspace,
       .source = "cpu/isa/dropout_norm.cpp"},
      {.name = "cpu.avx2",
       .supports = legal_on<Op, ref::legal, kAvx2>,
       .run = run_backward<avx2::kDropoutNorm>,
       .workspace = backward_workspace,
       .source = "cpu/isa/dropout_norm.cpp"},
      {.name = "cpu.reference",
       .supports = on_any_machine<Op, ref::legal>,
       .run = ref::dropout_norm_backward,
       .source = "ref/dropout_norm.cpp"},
  };
  return rows;
}

}  // namespace orrery::kernels
