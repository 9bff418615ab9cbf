// cuda.cublas: no step, but the rival that the ladder is measured against. The product is cuBLASLt's, by the
// algorithm that its heuristic puts first with 32 MB of workspace: of float32 in float32 proper, without
// TF32; of bf16 with float32 sums and, as all steps have it, a c of float32.
//   A row-major matrix is a column-major one turned: the library computes c^T = b^T a^T.
#include "kernels/cuda/ladder/steps.cuh"
#include "kernels/cuda/linear_blas.h"

namespace orrery::kernels::cuda::ladder {
namespace {

void run(const MatmulLadder::Args& args, const Launch& launch) {
  const auto [dtype, m, n, k] = args.problem;
  require_aligned(is_aligned(args.a) && is_aligned(args.b) && is_aligned(args.c));
  multiply({.type = dtype == DType::f32 ? CUDA_R_32F : CUDA_R_16BF,
            .a = args.b,
            .b = args.a,
            .d = args.c,
            .by_columns = true,
            .rows = n,
            .cols = k,
            .tokens = m,
            .most_tokens = m,
            .a_stride = n,
            .b_stride = k,
            .d_stride = n},
           launch.workspace, launch);
}

std::string supports(const MatmulLadder::Problem& problem, const Machine&) {
  if (std::string reason = ref::legal(problem); !reason.empty()) return reason;
  const int64_t chunk = 16 / dtype_info(problem.dtype).block_bytes;
  for (const int64_t row : {problem.n, problem.k})
    if (row % chunk != 0)
      return "rows of " + std::to_string(row) + " " + std::string(name_of(problem.dtype)) +
             "; it is asked for multiples of " + std::to_string(chunk) + " (16 bytes)";
  return "";
}

size_t workspace(const MatmulLadder::Problem&, const Machine&, int) { return kBlasWorkspace; }

Rounding rounding(const MatmulLadder::Problem& problem, int) {
  if (problem.dtype == DType::f32) return {};
  return {Rounded::bf16, Rounded::bf16};
}

}  // namespace

Row<MatmulLadder> cublas_row() {
  return {.name = "cuda.cublas",
          .device = DeviceKind::cuda,
          .supports = supports,
          .run = run,
          .workspace = workspace,
          .rounding = rounding,
          .source = "cuda/ladder/cublas.cu",
          .library = "cuBLAS"};
}

}  // namespace orrery::kernels::cuda::ladder
