// Row cuda.general: every legal problem, float32 products and sums.
//   dst[t][r] = epilogue(sum_k src[t][k] w[r][k] + bias[r]); gated: act(gate) * up of the two segments
//   src (tokens, cols) f32, row stride src_stride; w packed (quantised) or as stored; dst f32, row stride
//
// Who does what: grid (32 rows, 32 tokens), one launch a segment. A block of 256 threads walks K in steps of
// 128: it decodes a 32 x 128 tile of each matrix and copies one of src into shared memory; thread (x, y) of
// 16 x 16 sums rows x and x + 16 for tokens y and y + 16. Sums are in the order of k, so a result depends on
// its token and row alone.
//
// Preconditions: linear_refusal() is empty. No alignment beyond the elements' own.
//
// Bytes: weights once per 32 tokens, src once per 32 rows, dst once. 49,536 B shared memory when gated.
#include <algorithm>

#include "kernels/cuda/device/linear_group.cuh"
#include "kernels/cuda/linear_rows.h"

namespace orrery::kernels::cuda {
namespace {

constexpr int kTile = 32;
constexpr int kThreads = 256;
constexpr int kStep = static_cast<int>(kGroup);
constexpr int kPitch = kStep + 1;  // words: threads of a warp read 16 rows and 2 tokens, in different banks

struct Matrix {
  const uint8_t* weight = nullptr;
  const float* bias = nullptr;
  int64_t stride = 0;  // bytes
  DType dtype = DType::f32;
};

struct General {
  Matrix matrices[2];  // the second when gated
  const float* src;
  float* dst;
  int64_t src_stride, dst_stride, rows, cols, tokens;
  Epilogue epilogue;
};

template <DType dtype>
__device__ void decode_packed(const Matrix& matrix, const General& p, int64_t row0, int64_t k0, float* tile) {
  if (threadIdx.x >= kTile * 4) return;
  const int r = static_cast<int>(threadIdx.x) / 4, t = static_cast<int>(threadIdx.x) % 4;
  float w[32] = {};
  if (row0 + r < p.rows) {
    lane_weights<dtype>(matrix.weight + (row0 + r) * matrix.stride, packed_row(dtype, p.cols), k0 / kGroup, t,
                        w);
  }
#pragma unroll
  for (int n = 0; n < 32; ++n) tile[r * kPitch + column_of(t, n / 8, n / 4 % 2, n % 4)] = w[n];
}

template <DType dtype>
__device__ void decode_stored(const Matrix& matrix, const General& p, int64_t row0, int64_t k0, float* tile) {
  for (int i = static_cast<int>(threadIdx.x); i < kTile * kStep; i += kThreads) {
    const int r = i / kStep, k = i % kStep;
    const bool inside = row0 + r < p.rows && k0 + k < p.cols;
    tile[r * kPitch + k] =
        inside ? stored_at<dtype>(matrix.weight + (row0 + r) * matrix.stride, k0 + k) : 0.0F;
  }
}

__device__ void decode(const Matrix& matrix, const General& p, int64_t row0, int64_t k0, float* tile) {
  with_dtype(matrix.dtype, [&](auto type) {
    constexpr DType kType = decltype(type)::value;
    if constexpr (kPacked<kType>)
      decode_packed<kType>(matrix, p, row0, k0, tile);
    else
      decode_stored<kType>(matrix, p, row0, k0, tile);
  });
}

__device__ void copy_src(const General& p, int64_t token0, int64_t k0, float* tile) {
  for (int i = static_cast<int>(threadIdx.x); i < kTile * kStep; i += kThreads) {
    const int t = i / kStep, k = i % kStep;
    const bool inside = token0 + t < p.tokens && k0 + k < p.cols;
    tile[t * kPitch + k] = inside ? p.src[(token0 + t) * p.src_stride + k0 + k] : 0.0F;
  }
}

/// Behind the last column both tiles are zero, so all 128 products count.
__device__ void add_products(const float* w, const float* x, int rx, int ty, float (&sum)[2][2]) {
#pragma unroll 8
  for (int k = 0; k < kStep; ++k) {
    const float w0 = w[rx * kPitch + k], w1 = w[(rx + 16) * kPitch + k];
    const float x0 = x[ty * kPitch + k], x1 = x[(ty + 16) * kPitch + k];
    sum[0][0] = fmaf(w0, x0, sum[0][0]);
    sum[0][1] = fmaf(w0, x1, sum[0][1]);
    sum[1][0] = fmaf(w1, x0, sum[1][0]);
    sum[1][1] = fmaf(w1, x1, sum[1][1]);
  }
}

template <bool gated>
__global__ void __launch_bounds__(kThreads) general_kernel(const General p) {
  extern __shared__ float tiles[];  // src, weights, weights of the second matrix
  float* x = tiles;
  float* first = tiles + kTile * kPitch;
  float* second = first + kTile * kPitch;
  const int64_t row0 = static_cast<int64_t>(blockIdx.x) * kTile;
  const int64_t token0 = static_cast<int64_t>(blockIdx.y) * kTile;
  const int rx = static_cast<int>(threadIdx.x) % 16, ty = static_cast<int>(threadIdx.x) / 16;
  float sums[2][2][2] = {};
  pdl_wait();
  for (int64_t k0 = 0; k0 < p.cols; k0 += kStep) {
    __syncthreads();  // the tiles of the last step are read
    copy_src(p, token0, k0, x);
    decode(p.matrices[0], p, row0, k0, first);
    if constexpr (gated) decode(p.matrices[1], p, row0, k0, second);
    __syncthreads();
    add_products(first, x, rx, ty, sums[0]);
    if constexpr (gated) add_products(second, x, rx, ty, sums[1]);
  }
#pragma unroll
  for (int i = 0; i < 2; ++i) {
#pragma unroll
    for (int j = 0; j < 2; ++j) {
      const int64_t r = row0 + rx + 16 * i, t = token0 + ty + 16 * j;
      if (r >= p.rows || t >= p.tokens) continue;
      const float* bias = p.matrices[0].bias;
      float value = activate(p.epilogue, sums[0][i][j] + (bias != nullptr ? bias[r] : 0.0F));
      if constexpr (gated) {
        const float* up_bias = p.matrices[1].bias;
        value *= sums[1][i][j] + (up_bias != nullptr ? up_bias[r] : 0.0F);
      }
      p.dst[t * p.dst_stride + r] = value;
    }
  }
}

Matrix matrix_of(const Linear::Args& args, int s) {
  const auto i = static_cast<size_t>(s);
  const Linear::Segment& segment = args.problem.segments[i];
  return {static_cast<const uint8_t*>(args.operands[i].weight),
          segment.bias ? args.operands[i].bias : nullptr, weight_stride(args.problem, s), segment.weight};
}

}  // namespace

void run_general(const Linear::Args& args, const Launch& launch) {
  const bool gated = is_gated(args.problem.epilogue);
  for (int s = 0; s < (gated ? 1 : args.problem.segment_count); ++s) {
    const Linear::Operand& operand = args.operands[static_cast<size_t>(s)];
    const int64_t rows = args.problem.segments[static_cast<size_t>(s)].rows;
    General p{.matrices = {matrix_of(args, s), gated ? matrix_of(args, 1) : Matrix{}},
              .src = args.src,
              .dst = operand.dst,
              .src_stride = args.src_stride,
              .dst_stride = operand.dst_stride,
              .rows = rows,
              .cols = args.problem.cols,
              .tokens = args.tokens,
              .epilogue = args.problem.epilogue};
    constexpr int64_t kMostTokens = 65535LL * kTile;  // of a grid's second extent
    for (int64_t begin = 0; begin < args.tokens; begin += kMostTokens) {
      p.tokens = std::min(kMostTokens, args.tokens - begin);
      p.src = args.src + begin * args.src_stride;
      p.dst = operand.dst + begin * operand.dst_stride;
      const dim3 grid(static_cast<unsigned>(blocks_of(rows, kTile)),
                      static_cast<unsigned>(blocks_of(p.tokens, kTile)));
      const size_t tile = kTile * kPitch * sizeof(float);
      if (gated)
        launch_kernel(launch, general_kernel<true>, grid, dim3(kThreads), 3 * tile, p);
      else
        launch_kernel(launch, general_kernel<false>, grid, dim3(kThreads), 2 * tile, p);
    }
  }
}

}  // namespace orrery::kernels::cuda
