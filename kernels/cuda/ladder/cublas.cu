// cuda.cublas and cuda.cublas_short: no steps, but the rivals that the ladder is measured against. The
// product is cuBLASLt's, by the algorithm that its heuristic puts first with 32 MB of workspace: of float32
// in float32 proper, without TF32; of bf16 with float32 sums and, as all steps have it, a c of float32; of
// 8-bit floats with sums that are brought into float32 registers in between, or without (cuda.cublas_short;
// fp8.cu).
//   A row-major matrix is a column-major one turned: the library computes c^T = b^T a^T.
#include "kernels/cuda/ladder/steps.cuh"
#include "kernels/cuda/linear_blas.h"

namespace orrery::kernels::cuda::ladder {
namespace {

template <bool kShort>
void run(const MatmulLadder::Args& args, const Launch& launch) {
  const auto [dtype, m, n, k] = args.problem;
  require_aligned(is_aligned(args.a) && is_aligned(args.b) && is_aligned(args.c));
  const bool f8 = dtype == DType::f8_e4m3;
  multiply({.type = f8                    ? CUDA_R_8F_E4M3
                    : dtype == DType::f32 ? CUDA_R_32F
                                          : CUDA_R_16BF,
            .a = args.b,
            .b = args.a,
            .d = args.c,
            .by_columns = !f8,
            .short_sums = kShort,
            .scale = args.scale,
            .rows = n,
            .cols = k,
            .tokens = m,
            .most_tokens = m,
            .a_stride = f8 ? k : n,
            .b_stride = k,
            .d_stride = n},
           launch.workspace, launch);
}

std::string supports(const MatmulLadder::Problem& problem, const Machine& machine) {
  if (std::string reason = ref::legal(problem); !reason.empty()) return reason;
  if (problem.dtype == DType::f8_e4m3 && machine.card.capability < 89)
    return "products of F8_E4M3 need a card of capability 8.9";
  const int64_t chunk = 16 / dtype_info(problem.dtype).block_bytes;
  for (const int64_t row : {problem.n, problem.k})
    if (row % chunk != 0)
      return "rows of " + std::to_string(row) + " " + std::string(name_of(problem.dtype)) +
             "; it is asked for multiples of " + std::to_string(chunk) + " (16 bytes)";
  return "";
}

std::string supports_short(const MatmulLadder::Problem& problem, const Machine& machine) {
  std::string reason = supports(problem, machine);
  if (reason.empty() && problem.dtype != DType::f8_e4m3)
    reason = "matrices of " + std::string(name_of(problem.dtype)) + "; it multiplies F8_E4M3";
  return reason;
}

size_t workspace(const MatmulLadder::Problem&, const Machine&, int) { return kBlasWorkspace; }

Rounding rounding(const MatmulLadder::Problem& problem, int) {
  if (problem.dtype == DType::f32) return {};
  return tensor_rounding(problem, 0);
}

}  // namespace

Row<MatmulLadder> cublas_row() {
  return {.name = "cuda.cublas",
          .device = DeviceKind::cuda,
          .supports = supports,
          .run = run<false>,
          .workspace = workspace,
          .rounding = rounding,
          .source = "cuda/ladder/cublas.cu",
          .library = "cuBLAS"};
}

Row<MatmulLadder> cublas_short_row() {
  return {.name = "cuda.cublas_short",
          .device = DeviceKind::cuda,
          .supports = supports_short,
          .run = run<true>,
          .workspace = workspace,
          .rounding = rounding,
          .source = "cuda/ladder/cublas.cu",
          .library = "cuBLAS"};
}

}  // namespace orrery::kernels::cuda::ladder
