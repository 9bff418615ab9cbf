// Rows of TopExperts and ExpertMlp (moe.h).
//   cuda.top_experts: one warp a token. Its lanes walk over the logits once for the largest and the sum, then
//     once for each chosen expert: the next in the order (larger logit, lower number). Bytes: logits are read
//     active + 2 times, from the L1 after the first.
//   cuda.experts: two kernels. The first makes inner[t, j] = act(gate_e src[t]) * up_e src[t], a warp an
//     element of inner; the second dst[t] = sum_j weights[t, j] * down_e inner[t, j], a warp an element of
//     dst. Lanes own columns lane, lane + 32, ...; sums in f32, in one order. Only chosen experts' matrices
//     are read, once for each token that chose them. Workspace: inner (tokens * active, inner) f32.
#include "kernels/cuda/device/activation.cuh"
#include "kernels/cuda/device/block_reduce.cuh"
#include "kernels/cuda/device/dequantise.cuh"
#include "kernels/cuda/launch.h"
#include "kernels/moe.h"

namespace orrery::kernels::cuda {
namespace {

constexpr int kWarps = 8, kThreads = kWarps * kWarp;
constexpr int64_t kLargestGrid = 65535;  // of y

/// A logit with its place in the order of choosing.
struct Ranked {
  float logit;
  int expert;  // -1: none

  /// NaN comes last.
  __device__ bool before(const Ranked& other) const {
    if (other.expert < 0) return expert >= 0;
    if (expert < 0) return false;
    return logit > other.logit || (!(logit < other.logit) && expert < other.expert);
  }
};

__device__ Ranked first_of_warp(Ranked mine) {
#pragma unroll
  for (int step = kWarp / 2; step > 0; step /= 2) {
    const Ranked other{__shfl_xor_sync(kWholeWarp, mine.logit, step),
                       __shfl_xor_sync(kWholeWarp, mine.expert, step)};
    if (other.before(mine)) mine = other;
  }
  return mine;
}

__global__ void __launch_bounds__(kThreads) choose_experts(const TopExperts::Args args) {
  pdl_wait();
  const int64_t token = static_cast<int64_t>(blockIdx.x) * kWarps + threadIdx.x / kWarp;
  if (token >= args.tokens) return;
  const int lane = threadIdx.x % kWarp;
  const auto experts = static_cast<int>(args.problem.experts), active = static_cast<int>(args.problem.active);
  const float* logits = args.logits + token * experts;
  const auto next_after = [&](const Ranked& last) {
    Ranked mine{0.0F, -1};
    for (int expert = lane; expert < experts; expert += kWarp) {
      const Ranked candidate{logits[expert], expert};
      if ((last.expert < 0 || last.before(candidate)) && candidate.before(mine)) mine = candidate;
    }
    return first_of_warp(mine);
  };

  const Ranked largest = next_after({0.0F, -1});
  float sum = 0;
  for (int expert = lane; expert < experts; expert += kWarp) sum += expf(logits[expert] - largest.logit);
  sum = warp_reduce(sum, Plus{});
  Ranked chosen = largest;
  float of_chosen = 0;
  for (int j = 0; j < active; ++j) {
    if (j > 0) chosen = next_after(chosen);
    const float weight = expf(chosen.logit - largest.logit);
    of_chosen += weight;
    if (lane > 0) continue;
    args.experts[token * active + j] = max(chosen.expert, 0);
    args.weights[token * active + j] = weight;
  }
  __syncwarp();
  const float share = 1.0F / (args.problem.normalise ? of_chosen : sum);
  for (int j = lane; j < active; j += kWarp) args.weights[token * active + j] *= share;
}

void run_top_experts(const TopExperts::Args& args, const Launch& launch) {
  launch_kernel(launch, choose_experts, dim3(static_cast<unsigned>((args.tokens + kWarps - 1) / kWarps)),
                dim3(kThreads), 0, args);
}

int64_t stored_bytes(DType dtype, int64_t cols) {
  return static_cast<int64_t>(row_bytes(dtype, cols).value_or(0));
}

__device__ const std::byte* matrix_of(const ExpertMlp::Matrices& matrices, int64_t expert) {
  return matrices.base + static_cast<size_t>(expert) * matrices.stride;
}

/// Dot product of a stored row with a vector, in every lane.
__device__ float dot(DType dtype, const std::byte* row, const float* vector, int64_t cols) {
  const auto* stored = reinterpret_cast<const uint8_t*>(row);
  float sum = 0;
  for (int64_t k = threadIdx.x % kWarp; k < cols; k += kWarp)
    sum = fmaf(stored_at(dtype, stored, k), vector[k], sum);
  return warp_reduce(sum, Plus{});
}

/// The matrices' row lengths in bytes.
struct RowBytes {
  int64_t gate, up, down;
};

__device__ float gated(Epilogue activation, float gate, float up) {
  return activate<Math>(activation_of(activation), gate) * up;
}

__global__ void __launch_bounds__(kThreads)
    open_experts(const ExpertMlp::Args args, const RowBytes bytes, float* inner) {
  pdl_wait();
  const ExpertMlp::Problem& problem = args.problem;
  const int64_t row = static_cast<int64_t>(blockIdx.x) * kWarps + threadIdx.x / kWarp;
  if (row >= problem.inner) return;
  for (int64_t pair = blockIdx.y; pair < args.tokens * problem.active; pair += gridDim.y) {
    const int64_t expert = args.experts[pair];
    const float* src = args.src + pair / problem.active * problem.width;
    const float gate = dot(problem.gate, matrix_of(args.gate, expert) + row * bytes.gate, src, problem.width);
    const float up = dot(problem.up, matrix_of(args.up, expert) + row * bytes.up, src, problem.width);
    if (threadIdx.x % kWarp == 0) inner[pair * problem.inner + row] = gated(problem.activation, gate, up);
  }
}

__global__ void __launch_bounds__(kThreads)
    mix_experts(const ExpertMlp::Args args, const RowBytes bytes, const float* inner) {
  pdl_wait();
  const ExpertMlp::Problem& problem = args.problem;
  const int64_t row = static_cast<int64_t>(blockIdx.x) * kWarps + threadIdx.x / kWarp;
  if (row >= problem.width) return;
  for (int64_t token = blockIdx.y; token < args.tokens; token += gridDim.y) {
    float total = 0;
    for (int64_t pair = token * problem.active; pair < (token + 1) * problem.active; ++pair) {
      const std::byte* down = matrix_of(args.down, args.experts[pair]) + row * bytes.down;
      total = fmaf(args.weights[pair], dot(problem.down, down, inner + pair * problem.inner, problem.inner),
                   total);
    }
    if (threadIdx.x % kWarp == 0) args.dst[token * problem.width + row] = total;
  }
}

size_t workspace(const ExpertMlp::Problem& problem, const Machine&, int) {
  return static_cast<size_t>(problem.tokens * problem.active * problem.inner) * sizeof(float);
}

void run_experts(const ExpertMlp::Args& args, const Launch& launch) {
  const ExpertMlp::Problem& problem = args.problem;
  const RowBytes bytes{stored_bytes(problem.gate, problem.width), stored_bytes(problem.up, problem.width),
                       stored_bytes(problem.down, problem.inner)};
  auto* inner = reinterpret_cast<float*>(launch.workspace);
  const auto grid = [](int64_t rows, int64_t of) {
    return dim3(static_cast<unsigned>((rows + kWarps - 1) / kWarps),
                static_cast<unsigned>(of < kLargestGrid ? of : kLargestGrid));
  };
  launch_kernel(launch, open_experts, grid(problem.inner, args.tokens * problem.active), dim3(kThreads), 0,
                args, bytes, inner);
  launch_kernel(launch, mix_experts, grid(problem.width, args.tokens), dim3(kThreads), 0, args, bytes, inner);
}

}  // namespace

std::span<const Row<TopExperts>> top_experts_rows() {
  static const Row<TopExperts> rows[] = {
      {.name = "cuda.top_experts",
       .device = DeviceKind::cuda,
       .supports = on_any_machine<TopExperts, ref::legal>,
       .run = run_top_experts,
       .source = "cuda/moe.cu"},
  };
  return rows;
}

std::span<const Row<ExpertMlp>> expert_mlp_rows() {
  static const Row<ExpertMlp> rows[] = {
      {.name = "cuda.experts",
       .device = DeviceKind::cuda,
       .supports = on_any_machine<ExpertMlp, ref::legal>,
       .run = run_experts,
       .workspace = workspace,
       .source = "cuda/moe.cu"},
  };
  return rows;
}

}  // namespace orrery::kernels::cuda
