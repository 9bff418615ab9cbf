// Norms over the last dim with an optional residual add (norm.h):
//   x = src + residual; sum = x;  rms: dst = x w / sqrt(mean(x^2) + eps);
//   layer: dst = (x - mean) w / sqrt(var + eps) + bias
//   src, residual, sum, dst (tokens, cols) f32; weight, bias (weight_rows, cols) f32, row t % weight_rows for
//   token t
// Rows of up to 1024 columns: one warp a token, the row in registers. Others: one block a token; thread i of
// n owns the vectors i, i + n, i + 2n, ... of its row in every pass, so sum may be src or residual, and dst
// any of them; the first kHeld vectors stay in registers, later ones are read again (from sum where there is
// one). Vectors are float4 where cols and all addresses allow it (rows in registers only then), else float.
// Layer norm takes deviations from the rounded mean, and their own mean corrects it, so a mean far from zero
// costs no digits. Weights are read before the predecessor's end is waited for.
// Bytes moved: 4 per element of src, residual, sum and dst each; weight and bias once from memory.
#include <algorithm>

#include "kernels/cuda/device/block_reduce.cuh"
#include "kernels/cuda/device/one_wave.cuh"
#include "kernels/cuda/device/vectors.cuh"
#include "kernels/cuda/launch.h"
#include "kernels/norm.h"

namespace orrery::kernels::cuda {
namespace {

constexpr int kHeld = 2;
constexpr int kMostOfLane = 8;  // vectors of a row in registers
constexpr int kWarpThreads = 128;

struct Moments {
  float first, second;
};

__device__ inline Moments block_moments(Moments mine, float* shared) {
  mine.first = block_reduce(mine.first, 0.0F, Plus{}, shared);
  mine.second = block_reduce(mine.second, 0.0F, Plus{}, shared + kWarp);
  return mine;
}

/// The token's row of weights or of biases; null stays null.
template <class Vector>
__device__ inline const Vector* weights_of(const float* weights, const Norm::Args& args, int64_t token) {
  if (weights == nullptr || args.weight_rows == 1) return reinterpret_cast<const Vector*>(weights);
  return reinterpret_cast<const Vector*>(weights + token % args.weight_rows * args.cols);
}

/// One token's row as the thread sees it; `count` vectors.
template <class Vector>
struct NormRow {
  const Vector* src;
  const Vector* residual;
  Vector* sum;
  Vector* dst;
  int64_t count;

  __device__ NormRow(const Norm::Args& args, int64_t token)
      : count(args.cols / static_cast<int64_t>(sizeof(Vector) / sizeof(float))) {
    src = reinterpret_cast<const Vector*>(args.src) + token * count;
    residual =
        args.residual != nullptr ? reinterpret_cast<const Vector*>(args.residual) + token * count : nullptr;
    sum = args.sum != nullptr ? reinterpret_cast<Vector*>(args.sum) + token * count : nullptr;
    dst = reinterpret_cast<Vector*>(args.dst) + token * count;
  }

  /// x, written to sum.
  __device__ Vector take(int64_t i) const {
    Vector x = src[i];
    if (residual != nullptr) x = map(Plus{}, x, residual[i]);
    if (sum != nullptr) sum[i] = x;
    return x;
  }
  __device__ Vector again(int64_t i) const {
    if (sum != nullptr) return sum[i];
    return residual != nullptr ? map(Plus{}, src[i], residual[i]) : src[i];
  }
};

/// body(vector index, held slot or -1, x) for each of the thread's vectors.
template <class Vector, class Body>
__device__ inline void each_vector(const NormRow<Vector>& row, const Vector (&held)[kHeld], Body&& body) {
#pragma unroll
  for (int slot = 0; slot < kHeld; ++slot) {
    const int64_t i = threadIdx.x + static_cast<int64_t>(slot) * blockDim.x;
    if (i < row.count) body(i, slot, held[slot]);
  }
  for (int64_t i = threadIdx.x + static_cast<int64_t>(kHeld) * blockDim.x; i < row.count; i += blockDim.x)
    body(i, -1, row.again(i));
}

template <class Vector>
__global__ void __launch_bounds__(1024) norm_rows_kernel(const Norm::Args args) {
  __shared__ float shared[2 * kWarp];
  const bool layer = args.kind == Norm::Kind::layer;
  const NormRow<Vector> row(args, blockIdx.x);
  const auto* weight = weights_of<Vector>(args.weight, args, blockIdx.x);
  const auto* bias = weights_of<Vector>(layer ? args.bias : nullptr, args, blockIdx.x);
  const auto columns = static_cast<float>(args.cols);

  Vector held[kHeld];
  Vector weights[kHeld];
#pragma unroll
  for (int slot = 0; slot < kHeld; ++slot) {
    const int64_t i = threadIdx.x + static_cast<int64_t>(slot) * blockDim.x;
    held[slot] = filled<Vector>(0.0F);
    weights[slot] = i < row.count ? weight[i] : held[slot];
  }
  pdl_wait();
  pdl_trigger_in_one_wave();

  float sum = 0;
#pragma unroll
  for (int slot = 0; slot < kHeld; ++slot) {
    const int64_t i = threadIdx.x + static_cast<int64_t>(slot) * blockDim.x;
    if (i >= row.count) continue;
    held[slot] = row.take(i);
    sum += total(held[slot]);
  }
  for (int64_t i = threadIdx.x + static_cast<int64_t>(kHeld) * blockDim.x; i < row.count; i += blockDim.x)
    sum += total(row.take(i));

  const float centre = layer ? block_reduce(sum, 0.0F, Plus{}, shared) / columns : 0.0F;
  Moments moments{0, 0};
  each_vector(row, held, [&](int64_t, int, Vector x) {
    const Vector away = map([=](float value) { return value - centre; }, x);
    moments.first += total(away);
    moments.second += total(map([](float value) { return value * value; }, away));
  });
  float shift = 0;  // what the rounded mean is short of
  if (layer) {
    moments = block_moments(moments, shared);
    shift = moments.first / columns;
  } else {
    moments.second = block_reduce(moments.second, 0.0F, Plus{}, shared);
  }
  const float factor = 1.0F / sqrtf(fmaxf(moments.second / columns - shift * shift, 0.0F) + args.eps);

  each_vector(row, held, [&](int64_t i, int slot, Vector x) {
    const Vector scaled = map([=](float value, float w) { return ((value - centre) - shift) * factor * w; },
                              x, slot >= 0 ? weights[slot & (kHeld - 1)] : weight[i]);
    row.dst[i] = bias != nullptr ? map(Plus{}, scaled, bias[i]) : scaled;
  });
}

/// A lane's vectors of its row; beyond the row zeros.
template <int kVectors>
struct LaneRow {
  float4 x[kVectors];

  template <class Load>
  __device__ LaneRow(int64_t count, Load&& load) {
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      const int64_t i = threadIdx.x % kWarp + v * kWarp;
      x[v] = i < count ? load(i) : filled<float4>(0.0F);
    }
  }
  /// body(vector index, slot) for each vector inside the row.
  template <class Body>
  __device__ void each(int64_t count, Body&& body) const {
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      const int64_t i = threadIdx.x % kWarp + v * kWarp;
      if (i < count) body(i, v);
    }
  }
};

/// All that is read is read before anything is written, as src may be sum, and loads wait for no store.
template <int kVectors>
__global__ void __launch_bounds__(kWarpThreads) norm_warps_kernel(const Norm::Args args) {
  const bool layer = args.kind == Norm::Kind::layer;
  const int64_t token = static_cast<int64_t>(blockIdx.x) * (blockDim.x / kWarp) + threadIdx.x / kWarp;
  const NormRow<float4> row(args, token);
  const auto* weight = weights_of<float4>(args.weight, args, token);
  const auto* bias = weights_of<float4>(layer ? args.bias : nullptr, args, token);
  const auto columns = static_cast<float>(args.cols);
  using Lane = LaneRow<kVectors>;
  const Lane weights(row.count, [&](int64_t i) { return __ldg(weight + i); });
  pdl_wait();
  pdl_trigger_in_one_wave();
  if (token >= args.tokens) return;

  Lane held(row.count, [&](int64_t i) { return row.src[i]; });
  if (row.residual != nullptr) {
    const Lane added(row.count, [&](int64_t i) { return row.residual[i]; });
#pragma unroll
    for (int v = 0; v < kVectors; ++v) held.x[v] = map(Plus{}, held.x[v], added.x[v]);
  }
  if (row.sum != nullptr) held.each(row.count, [&](int64_t i, int v) { row.sum[i] = held.x[v]; });

  float sum = 0;
#pragma unroll
  for (int v = 0; v < kVectors; ++v) sum += total(held.x[v]);
  const float centre = layer ? warp_reduce(sum, Plus{}) / columns : 0.0F;
  Moments moments{0, 0};
  held.each(row.count, [&](int64_t, int v) {
    const float4 away = map([=](float value) { return value - centre; }, held.x[v]);
    moments.first += total(away);
    moments.second += total(map([](float value) { return value * value; }, away));
  });
  const float shift = layer ? warp_reduce(moments.first, Plus{}) / columns : 0.0F;  // of the rounded mean
  const float square = warp_reduce(moments.second, Plus{}) / columns;
  const float factor = 1.0F / sqrtf(fmaxf(square - shift * shift, 0.0F) + args.eps);

  held.each(row.count, [&](int64_t i, int v) {
    float4 y = map([=](float value, float w) { return ((value - centre) - shift) * factor * w; }, held.x[v],
                   weights.x[v]);
    if (bias != nullptr) y = map(Plus{}, y, __ldg(bias + i));
    row.dst[i] = y;
  });
}

/// Few tokens: a block each, so that all multiprocessors have some.
void run_warps(const Norm::Args& args, const Launch& launch) {
  const int64_t vectors = (args.cols / 4 + kWarp - 1) / kWarp;
  const auto kernel = vectors <= 2   ? norm_warps_kernel<2>
                      : vectors <= 4 ? norm_warps_kernel<4>
                      : vectors <= 6 ? norm_warps_kernel<6>
                                     : norm_warps_kernel<kMostOfLane>;
  const int64_t warps = args.tokens < 512 ? 1 : kWarpThreads / kWarp;
  launch_kernel(launch, kernel, dim3(static_cast<unsigned>((args.tokens + warps - 1) / warps)),
                dim3(static_cast<unsigned>(warps * kWarp)), 0, args);
}

void run(const Norm::Args& args, const Launch& launch) {
  if (args.tokens <= 0) return;
  const bool wide = args.cols % 4 == 0 && is_aligned(args.src) && is_aligned(args.residual) &&
                    is_aligned(args.sum) && is_aligned(args.dst) && is_aligned(args.weight) &&
                    is_aligned(args.bias);
  if (wide && args.cols <= kMostOfLane * 4 * kWarp) return run_warps(args, launch);
  const int64_t vectors = wide ? args.cols / 4 : args.cols;
  // Few tokens: latency counts, so many threads. Many: each thread's work hides its own waits.
  const int64_t each = args.tokens < 512 ? 1 : 2;
  const int64_t threads = std::clamp<int64_t>((vectors / each + kWarp - 1) / kWarp * kWarp, kWarp, 1024);
  launch_kernel(launch, wide ? norm_rows_kernel<float4> : norm_rows_kernel<float>,
                dim3(static_cast<unsigned>(args.tokens)), dim3(static_cast<unsigned>(threads)), 0, args);
}

}  // namespace

std::span<const Row<Norm>> norm_rows() {
  static const Row<Norm> rows[] = {
      {.name = "cuda.rows",
       .device = DeviceKind::cuda,
       .supports = on_any_machine<Norm, ref::legal>,
       .run = run},
  };
  return rows;
}

}  // namespace orrery::kernels::cuda
