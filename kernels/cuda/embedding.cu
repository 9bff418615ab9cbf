// Embedding: dst[t, :] = scale * table[ids[t], :] (embedding.h).
//   ids (tokens) i32, null: row t      table (vocabulary, cols) as stored, block formats of GGUF      dst
//   (tokens, cols) f32
// Grid (tokens, parts of kThreads columns, striding); a thread owns single elements of dst. Ids outside the
// table give zeros. Elements of a block are decoded one by one: a step's tokens are few beside its layers.
// Preconditions: cols is a multiple of the block; the table is 2-byte aligned, of f32 4-byte aligned.
// Bytes moved: the rows as stored, 4 per element of dst.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>

#include "kernels/cuda/launch.h"
#include "kernels/cuda/rows.h"
#include "kernels/ref/reference.h"

namespace orrery::kernels::cuda {
namespace {

constexpr int kThreads = 256;

__device__ inline float half_at(const uint8_t* src) {
  return __half2float(*reinterpret_cast<const __half*>(src));
}

__device__ inline float q4_0_at(const uint8_t* row, int64_t c) {
  const uint8_t* block = row + c / 32 * 18;
  const int j = static_cast<int>(c % 32);
  return half_at(block) * static_cast<float>(((block[2 + j % 16] >> (j / 16 * 4)) & 15) - 8);
}

__device__ inline float q4_1_at(const uint8_t* row, int64_t c) {
  const uint8_t* block = row + c / 32 * 20;
  const int j = static_cast<int>(c % 32);
  return half_at(block) * static_cast<float>((block[4 + j % 16] >> (j / 16 * 4)) & 15) + half_at(block + 2);
}

__device__ inline float q8_0_at(const uint8_t* row, int64_t c) {
  const uint8_t* block = row + c / 32 * 34;
  return half_at(block) * static_cast<float>(static_cast<int8_t>(block[2 + c % 32]));
}

/// d s q - m n; the 6-bit s and n of sub-blocks 0 to 3 lie in low bits, of 4 to 7 split.
__device__ inline float q4_k_at(const uint8_t* row, int64_t c) {
  const uint8_t* block = row + c / 256 * 144;
  const int j = static_cast<int>(c % 256);
  const int b = j / 32;
  const uint8_t* packed = block + 4;
  const int scale = b < 4 ? packed[b] & 63 : (packed[b + 4] & 15) | ((packed[b - 4] >> 6) << 4);
  const int min = b < 4 ? packed[b + 4] & 63 : (packed[b + 4] >> 4) | ((packed[b] >> 6) << 4);
  const int q = (block[16 + 32 * (b / 2) + j % 32] >> (b % 2 * 4)) & 15;
  return half_at(block) * static_cast<float>(scale) * static_cast<float>(q) -
         half_at(block + 2) * static_cast<float>(min);
}

/// d s (q - 32); element l + 32 g of a half of 128.
__device__ inline float q6_k_at(const uint8_t* row, int64_t c) {
  const uint8_t* block = row + c / 256 * 210;
  const int j = static_cast<int>(c % 256);
  const int half = j / 128;
  const int g = j % 128 / 32;
  const int l = j % 32;
  const int low = (block[64 * half + l + 32 * (g % 2)] >> (4 * (g / 2))) & 15;
  const int high = (block[128 + 32 * half + l] >> (2 * g)) & 3;
  const int scale = static_cast<int8_t>(block[192 + 8 * half + 2 * g + l / 16]);
  return half_at(block + 208) * static_cast<float>(scale) * static_cast<float>((low | high << 4) - 32);
}

__device__ inline float element(DType dtype, const uint8_t* row, int64_t c) {
  switch (dtype) {
    case DType::f32:
      return reinterpret_cast<const float*>(row)[c];
    case DType::f16:
      return __half2float(reinterpret_cast<const __half*>(row)[c]);
    case DType::bf16:
      return __bfloat162float(reinterpret_cast<const __nv_bfloat16*>(row)[c]);
    case DType::i8:
      return static_cast<float>(reinterpret_cast<const int8_t*>(row)[c]);
    case DType::q4_0:
      return q4_0_at(row, c);
    case DType::q4_1:
      return q4_1_at(row, c);
    case DType::q8_0:
      return q8_0_at(row, c);
    case DType::q4_k:
      return q4_k_at(row, c);
    case DType::q6_k:
      return q6_k_at(row, c);
    case DType::i32:
    case DType::i64:
      break;  // not legal
  }
  return 0.0F;
}

__global__ void __launch_bounds__(kThreads)
    embedding_kernel(const Embedding::Args args, const int64_t row_stride) {
  pdl_wait();
  pdl_trigger();
  const int64_t token = blockIdx.x;
  const int64_t id = args.ids != nullptr ? args.ids[token] : token;
  const bool inside = id >= 0 && id < args.vocabulary;
  const uint8_t* row = static_cast<const uint8_t*>(args.table) + (inside ? id : 0) * row_stride;
  float* dst = args.dst + token * args.cols;
  const int64_t step = static_cast<int64_t>(gridDim.y) * kThreads;
  for (int64_t c = blockIdx.y * static_cast<int64_t>(kThreads) + threadIdx.x; c < args.cols; c += step)
    dst[c] = inside ? element(args.dtype, row, c) * args.scale : 0.0F;
}

void run(const Embedding::Args& args, const Launch& launch) {
  if (args.tokens <= 0) return;
  const auto stride = static_cast<int64_t>(row_bytes(args.dtype, args.cols).value_or(0));
  const int64_t parts = std::min<int64_t>((args.cols + kThreads - 1) / kThreads, 65535);
  launch_kernel(launch, embedding_kernel,
                dim3(static_cast<unsigned>(args.tokens), static_cast<unsigned>(parts)), dim3(kThreads), 0,
                args, stride);
}

}  // namespace

std::span<const Row<Embedding>> embedding_rows() {
  static const Row<Embedding> rows[] = {
      {.name = "cuda.rows", .device = DeviceKind::cuda, .supports = ref::legal, .run = run},
  };
  return rows;
}

}  // namespace orrery::kernels::cuda
