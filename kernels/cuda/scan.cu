// CausalConvolution and SelectiveScan on CUDA (kernels/scan.h):
//   dst[t][c] = bias[c] + sum_k weight[k][c] src[t - (kernel - 1) + k][c]
//   h[n][c] = e^(step a[n][c]) h[n][c] + step b[t][n] src[t][c];  dst[t][c] = d[c] src[t][c] + sum_n c[t][n]
//   h[n][c] all f32, rows contiguous, any alignment; records in the pages of their sequences
// A thread owns a channel of a sequence for the convolution; for the scan kGroup lanes do, each of which
// holds every kGroup-th state in registers, and adds them up by shuffles. Each goes token after token through
// the step, so the numbers do not depend on how a text is cut into steps.
//   Preconditions: the page table names a page for every position of the step and for the one before it.
//   Bytes moved: convolution 4 * tokens * channels * 2, scan * 3, beside the records (twice) and the weights.
#include "kernels/cuda/launch.h"
#include "kernels/scan.h"

namespace orrery::kernels::cuda {
namespace {

constexpr int kThreads = 128;
constexpr int kGroup = 16;    // lanes of a channel
constexpr int kPerLane = 16;  // states that a lane holds at most
constexpr int kMostStates = kGroup * kPerLane;
constexpr unsigned kMostSequences = 65535;  // of a grid's y

__global__ void __launch_bounds__(kThreads) convolve(const CausalConvolution::Args args) {
  pdl_wait();
  const int64_t channels = args.problem.channels, kept = args.problem.kernel - 1;
  const int64_t channel = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (channel >= channels) return;
  const float* weight = args.weight + channel;
  const float bias = args.bias != nullptr ? args.bias[channel] : 0.0F;
  for (int64_t s = blockIdx.y; s < args.ragged.sequences; s += gridDim.y) {
    each_page_run(args.ragged, args.record, s, [&](const PageRun& run) {
      const float* src = args.src + run.row * channels + channel;
      float* dst = args.dst + run.row * channels + channel;
      const auto input = [&](int64_t token) {
        if (token >= 0) return src[token * channels];
        return run.before != nullptr ? run.before[(kept + token) * channels + channel] : 0.0F;
      };
      for (int64_t t = 0; t < run.tokens; ++t) {
        float sum = bias;
        for (int64_t k = 0; k <= kept; ++k) sum = fmaf(weight[k * channels], input(t - kept + k), sum);
        dst[t * channels] = sum;
      }
      for (int64_t j = 0; j < kept; ++j) run.after[j * channels + channel] = input(run.tokens - kept + j);
    });
  }
}

/// log(1 + e^x) without overflow; NaN stays.
__device__ inline float softplus(float x) { return (x < 0.0F ? 0.0F : x) + log1pf(expf(-fabsf(x))); }

/// All lanes of a group get the sum, added in one order.
__device__ inline float sum_of_group(float x) {
  for (int step = kGroup / 2; step > 0; step /= 2) x += __shfl_xor_sync(0xffffffffU, x, step, kGroup);
  return x;
}

/// kHeld: states that a lane holds.
template <int kHeld>
__global__ void __launch_bounds__(kThreads) scan(const SelectiveScan::Args args) {
  pdl_wait();
  const int64_t channels = args.problem.channels;
  const auto states = static_cast<int>(args.problem.states);
  const int lane = threadIdx.x % kGroup;
  const int64_t wanted = (static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x) / kGroup;
  const bool writes = wanted < channels;  // the others go along, as shuffles want all lanes
  const int64_t channel = writes ? wanted : channels - 1;
  const float skip = args.d[channel];
  float a[kHeld];
#pragma unroll
  for (int i = 0; i < kHeld; ++i) {
    const int n = lane + i * kGroup;
    a[i] = n < states ? args.a[n * channels + channel] : 0.0F;
  }
  for (int64_t s = blockIdx.y; s < args.ragged.sequences; s += gridDim.y) {
    each_page_run(args.ragged, args.record, s, [&](const PageRun& run) {
      float h[kHeld];
#pragma unroll
      for (int i = 0; i < kHeld; ++i) {
        const int n = lane + i * kGroup;
        h[i] = run.before != nullptr && n < states ? run.before[n * channels + channel] : 0.0F;
      }
      for (int64_t row = run.row; row < run.row + run.tokens; ++row) {
        const int64_t at = row * channels + channel;
        const float x = args.src[at];
        const float step = softplus(args.delta[at]);
        const float entering = step * x;
        float sum = 0.0F;
#pragma unroll
        for (int i = 0; i < kHeld; ++i) {
          const int n = lane + i * kGroup;
          if (n >= states) break;
          h[i] = fmaf(expf(step * a[i]), h[i], entering * args.b[row * states + n]);
          sum = fmaf(h[i], args.c[row * states + n], sum);
        }
        sum = sum_of_group(sum);
        if (lane == 0 && writes) args.dst[at] = fmaf(skip, x, sum);
      }
#pragma unroll
      for (int i = 0; i < kHeld; ++i) {
        const int n = lane + i * kGroup;
        if (n < states && writes) run.after[n * channels + channel] = h[i];
      }
    });
  }
}

dim3 grid_of(int64_t threads, const Ragged& ragged) {
  return {static_cast<unsigned>((threads + kThreads - 1) / kThreads),
          static_cast<unsigned>(std::min<int64_t>(ragged.sequences, kMostSequences))};
}

void run_convolution(const CausalConvolution::Args& args, const Launch& launch) {
  launch_kernel(launch, convolve, grid_of(args.problem.channels, args.ragged), dim3(kThreads), 0, args);
}

void run_scan(const SelectiveScan::Args& args, const Launch& launch) {
  const auto start = [&](auto* kernel) {
    launch_kernel(launch, kernel, grid_of(args.problem.channels * kGroup, args.ragged), dim3(kThreads), 0,
                  args);
  };
  if (args.problem.states <= kGroup) return start(scan<1>);
  if (args.problem.states <= 4 * kGroup) return start(scan<4>);
  start(scan<kPerLane>);
}

std::string scans(const SelectiveScan::Problem& problem, const Machine&) {
  if (problem.states > kMostStates) return "more than 256 states a channel";
  return ref::legal(problem);
}

}  // namespace

std::span<const Row<CausalConvolution>> causal_convolution_rows() {
  static const Row<CausalConvolution> rows[] = {
      {.name = "cuda.convolution",
       .device = DeviceKind::cuda,
       .supports = on_any_machine<CausalConvolution, ref::legal>,
       .run = run_convolution,
       .source = "cuda/scan.cu"},
  };
  return rows;
}

std::span<const Row<SelectiveScan>> selective_scan_rows() {
  static const Row<SelectiveScan> rows[] = {
      {.name = "cuda.scan",
       .device = DeviceKind::cuda,
       .supports = scans,
       .run = run_scan,
       .source = "cuda/scan.cu"},
  };
  return rows;
}

}  // namespace orrery::kernels::cuda
