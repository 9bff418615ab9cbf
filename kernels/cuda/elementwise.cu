// Pointwise ops and row ops on (tokens, cols) f32 (elementwise.h); dst may be a source.
//   silu(x) = x / (1 + e^-x)      gelu_erf(x) = x / 2 erfc(-x / sqrt 2)
//   gelu_tanh(x) = x / (1 + e^-2u), u = sqrt(2 / pi) (x + 0.044715 x^3)
//   softmax: e^(x - max) / sum, 0 for a row of -inf      l2_normalise: x / max(|x|, 1e-12)
// Pointwise: a thread owns whole vectors (float4 where cols and addresses allow it, else float), which it
// reads before it writes them; a grid of x over columns and y over rows, both striding. Without broadcast
// everything is one row. Row ops: one block a row; a thread owns columns threadIdx.x + k blockDim.x, and the
// row is read once for each pass (from cache after the first).
// Bytes moved: 4 per element of each source and of dst.
#include <algorithm>

#include "kernels/cuda/device/block_reduce.cuh"
#include "kernels/cuda/device/one_wave.cuh"
#include "kernels/cuda/device/vectors.cuh"
#include "kernels/cuda/launch.h"
#include "kernels/elementwise.h"

namespace orrery::kernels::cuda {
namespace {

using Function = Elementwise::Function;

constexpr int kThreads = 256;
constexpr int64_t kMaxBlocks = 132 * 16;

__device__ inline float silu(float x) { return x / (1.0F + expf(-x)); }

/// The part of -x / sqrt 2 that float32 drops would cost erfc digits far out, so it is put in to first order.
__device__ inline float gelu_erf(float x) {
  constexpr float kHigh = 0.707106769F;
  constexpr float kLow = 1.21016175e-8F;  // sqrt(1/2) - kHigh
  const float z = -x * kHigh;
  const float dropped = fabsf(x) < 32.0F ? fmaf(-x, kLow, fmaf(-x, kHigh, -z)) : 0.0F;
  const float slope = -1.12837917F * expf(-z * z);
  return 0.5F * x * fmaf(slope, dropped, erfcf(z));
}

__device__ inline float gelu_tanh(float x) {
  constexpr float kLinear = 1.59576912F;   // 2 sqrt(2 / pi)
  constexpr float kCubic = 0.0713548163F;  // 0.044715 of it
  return x / (1.0F + expf(-x * fmaf(kCubic * x, x, kLinear)));
}

__device__ inline float apply(Function function, float a, float b, float factor) {
  switch (function) {
    case Function::silu:
      return silu(a);
    case Function::gelu_erf:
      return gelu_erf(a);
    case Function::gelu_tanh:
      return gelu_tanh(a);
    case Function::relu:
      return a < 0.0F ? 0.0F : a;
    case Function::tanh:
      return tanhf(a);
    case Function::add:
      return a + b;
    case Function::mul:
      return a * b;
    case Function::silu_mul:
      return silu(a) * b;
    case Function::gelu_tanh_mul:
      return gelu_tanh(a) * b;
    case Function::scale:
      return a * factor;
    case Function::softmax:
    case Function::l2_normalise:
      break;  // row ops
  }
  return a;
}

struct PointwiseCall {
  Function function;
  const float* a;
  const float* b;  // a where the function takes one source
  float* dst;
  int64_t rows, vectors;  // of a row; b has one row
  float factor;
};

template <class Vector>
__global__ void __launch_bounds__(kThreads) pointwise_kernel(const PointwiseCall call) {
  pdl_wait();
  pdl_trigger_in_one_wave();
  const int64_t step = static_cast<int64_t>(gridDim.x) * kThreads;
  for (int64_t row = blockIdx.y; row < call.rows; row += gridDim.y) {
    const auto* a = reinterpret_cast<const Vector*>(call.a) + row * call.vectors;
    const auto* b = reinterpret_cast<const Vector*>(call.b);
    auto* dst = reinterpret_cast<Vector*>(call.dst) + row * call.vectors;
    for (int64_t i = blockIdx.x * static_cast<int64_t>(kThreads) + threadIdx.x; i < call.vectors; i += step) {
      dst[i] = map([&](float x, float y) { return apply(call.function, x, y, call.factor); }, a[i], b[i]);
    }
  }
}

__global__ void __launch_bounds__(1024) softmax_kernel(const Elementwise::Args args) {
  __shared__ float shared[kWarp];
  pdl_wait();
  pdl_trigger_in_one_wave();
  const float* a = args.a + blockIdx.x * args.cols;
  float* dst = args.dst + blockIdx.x * args.cols;
  float largest = -INFINITY;
  for (int64_t c = threadIdx.x; c < args.cols; c += blockDim.x) largest = fmaxf(largest, a[c]);
  largest = block_reduce(largest, -INFINITY, Larger{}, shared);
  const bool nothing = largest == -INFINITY;
  float sum = 0;
  for (int64_t c = threadIdx.x; c < args.cols; c += blockDim.x) sum += expf(a[c] - largest);
  sum = block_reduce(sum, 0.0F, Plus{}, shared);
  for (int64_t c = threadIdx.x; c < args.cols; c += blockDim.x)
    dst[c] = nothing ? 0.0F : expf(a[c] - largest) / sum;
}

__global__ void __launch_bounds__(1024) l2_normalise_kernel(const Elementwise::Args args) {
  __shared__ double shared[kWarp];
  pdl_wait();
  pdl_trigger_in_one_wave();
  const float* a = args.a + blockIdx.x * args.cols;
  float* dst = args.dst + blockIdx.x * args.cols;
  double squares = 0;  // float64: a square of float32 can be infinite, a norm cannot
  for (int64_t c = threadIdx.x; c < args.cols; c += blockDim.x)
    squares += static_cast<double>(a[c]) * static_cast<double>(a[c]);
  squares = block_reduce(squares, 0.0, Plus{}, shared);
  const double norm = fmax(sqrt(squares), 1e-12);
  for (int64_t c = threadIdx.x; c < args.cols; c += blockDim.x)
    dst[c] = static_cast<float>(static_cast<double>(a[c]) / norm);
}

bool takes_two(Function function) {
  return function == Function::add || function == Function::mul || function == Function::silu_mul ||
         function == Function::gelu_tanh_mul;
}

void run_rows(const Elementwise::Args& args, const Launch& launch) {
  const int64_t threads = std::clamp<int64_t>((args.cols / 2 + kWarp - 1) / kWarp * kWarp, kWarp, 1024);
  launch_kernel(launch, args.function == Function::softmax ? softmax_kernel : l2_normalise_kernel,
                dim3(static_cast<unsigned>(args.tokens)), dim3(static_cast<unsigned>(threads)), 0, args);
}

void run(const Elementwise::Args& args, const Launch& launch) {
  if (args.tokens <= 0) return;
  if (args.function == Function::softmax || args.function == Function::l2_normalise)
    return run_rows(args, launch);
  const int64_t rows = args.broadcast ? args.tokens : 1;
  const int64_t cols = args.broadcast ? args.cols : args.tokens * args.cols;
  const float* b = takes_two(args.function) ? args.b : args.a;
  const bool wide = cols % 4 == 0 && is_aligned(args.a) && is_aligned(b) && is_aligned(args.dst);
  const int64_t vectors = wide ? cols / 4 : cols;
  const PointwiseCall call{args.function, args.a, b, args.dst, rows, vectors, args.factor};
  const int64_t across = std::min((vectors + kThreads - 1) / kThreads, kMaxBlocks);
  const int64_t down = std::min(rows, std::max<int64_t>(1, kMaxBlocks / across));
  launch_kernel(launch, wide ? pointwise_kernel<float4> : pointwise_kernel<float>,
                dim3(static_cast<unsigned>(across), static_cast<unsigned>(down)), dim3(kThreads), 0, call);
}

}  // namespace

std::span<const Row<Elementwise>> elementwise_rows() {
  static const Row<Elementwise> rows[] = {
      {.name = "cuda.pointwise", .device = DeviceKind::cuda, .supports = ref::legal, .run = run},
  };
  return rows;
}

}  // namespace orrery::kernels::cuda
