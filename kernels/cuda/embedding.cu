// Embedding: dst[t, :] = scale * table[ids[t], :] (embedding.h).
//   ids (tokens) i32, null: row t      table (vocabulary, cols) as stored, block formats of GGUF      dst
//   (tokens, cols) f32
// f32, f16 and bf16 tables: a thread owns 8 elements of dst, where rows allow 16-byte accesses. Others: grid
// (tokens, parts of kThreads columns, striding), a thread owns single elements; those of a block are decoded
// one by one. Ids outside the table give zeros.
// Preconditions: cols is a multiple of the block; the table is 2-byte aligned, of f32 4-byte aligned.
// Bytes moved: the rows as stored, 4 per element of dst.
#include <algorithm>

#include "kernels/cuda/device/dequantise.cuh"
#include "kernels/cuda/device/one_wave.cuh"
#include "kernels/cuda/launch.h"
#include "kernels/embedding.h"

namespace orrery::kernels::cuda {
namespace {

constexpr int kThreads = 256;

template <DType kTable>
constexpr int64_t dtype_bytes = kTable == DType::f32 ? 4 : 2;

/// The row of the table that a token reads, or -1.
__device__ inline int64_t table_row(const Embedding::Args& args, int64_t token) {
  const int64_t id = args.ids != nullptr ? args.ids[token] : token;
  return id >= 0 && id < args.vocabulary ? id : -1;
}

/// Elements [8 k, 8 k + 8) of a row.
template <DType kTable>
__device__ inline void load_eight(const void* row, int64_t k, float (&x)[8]) {
  if constexpr (kTable == DType::f32) {
    const float4* at = static_cast<const float4*>(row) + 2 * k;
    const float4 low = __ldg(at), high = __ldg(at + 1);
    x[0] = low.x, x[1] = low.y, x[2] = low.z, x[3] = low.w;
    x[4] = high.x, x[5] = high.y, x[6] = high.z, x[7] = high.w;
  } else {
    const uint4 bits = __ldg(static_cast<const uint4*>(row) + k);
    const auto* at = reinterpret_cast<const uint8_t*>(&bits);
#pragma unroll
    for (int i = 0; i < 8; ++i) x[i] = stored_at<kTable>(at, i);
  }
}

template <DType kTable>
__global__ void __launch_bounds__(kThreads) embedding_eights_kernel(const Embedding::Args args) {
  pdl_wait();
  pdl_trigger_in_one_wave();
  const int64_t eights = args.cols / 8;
  const int64_t item = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (item >= args.tokens * eights) return;
  const int64_t token = item / eights, k = item - token * eights;
  const int64_t row = table_row(args, token);
  float x[8] = {};
  if (row >= 0)
    load_eight<kTable>(static_cast<const uint8_t*>(args.table) + row * args.cols * dtype_bytes<kTable>, k, x);
  auto* dst = reinterpret_cast<float4*>(args.dst) + 2 * item;
  const float scale = args.scale;
  dst[0] = {x[0] * scale, x[1] * scale, x[2] * scale, x[3] * scale};
  dst[1] = {x[4] * scale, x[5] * scale, x[6] * scale, x[7] * scale};
}

__global__ void __launch_bounds__(kThreads)
    embedding_kernel(const Embedding::Args args, const int64_t row_stride) {
  pdl_wait();
  pdl_trigger_in_one_wave();
  const int64_t token = blockIdx.x;
  const int64_t id = table_row(args, token);
  const uint8_t* row = static_cast<const uint8_t*>(args.table) + max(id, int64_t{0}) * row_stride;
  float* dst = args.dst + token * args.cols;
  const int64_t step = static_cast<int64_t>(gridDim.y) * kThreads;
  for (int64_t c = blockIdx.y * static_cast<int64_t>(kThreads) + threadIdx.x; c < args.cols; c += step)
    dst[c] = id >= 0 ? stored_at(args.dtype, row, c) * args.scale : 0.0F;
}

/// Null where elements are read one by one.
auto eights_kernel_of(const Embedding::Args& args) -> void (*)(Embedding::Args) {
  if (args.cols % 8 != 0 || !is_aligned(args.table) || !is_aligned(args.dst)) return nullptr;
  switch (args.dtype) {
    case DType::f32:
      return embedding_eights_kernel<DType::f32>;
    case DType::f16:
      return embedding_eights_kernel<DType::f16>;
    case DType::bf16:
      return embedding_eights_kernel<DType::bf16>;
    default:
      return nullptr;
  }
}

void run(const Embedding::Args& args, const Launch& launch) {
  if (args.tokens <= 0) return;
  if (const auto kernel = eights_kernel_of(args)) {
    const int64_t blocks = (args.tokens * (args.cols / 8) + kThreads - 1) / kThreads;
    return launch_kernel(launch, kernel, dim3(static_cast<unsigned>(blocks)), dim3(kThreads), 0, args);
  }
  const auto stride = static_cast<int64_t>(row_bytes(args.dtype, args.cols).value_or(0));
  const int64_t parts = std::min<int64_t>((args.cols + kThreads - 1) / kThreads, 65535);
  launch_kernel(launch, embedding_kernel,
                dim3(static_cast<unsigned>(args.tokens), static_cast<unsigned>(parts)), dim3(kThreads), 0,
                args, stride);
}

}  // namespace

std::span<const Row<Embedding>> embedding_rows() {
  static const Row<Embedding> rows[] = {
      {.name = "cuda.rows",
       .device = DeviceKind::cuda,
       .supports = on_any_machine<Embedding, ref::legal>,
       .run = run},
  };
  return rows;
}

}  // namespace orrery::kernels::cuda
