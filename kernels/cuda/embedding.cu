// Embedding: dst[t, :] = scale * table[ids[t], :] (embedding.h).
//   ids (tokens) i32, null: row t      table (vocabulary, cols) as stored, block formats of GGUF      dst
//   (tokens, cols) f32
// Grid (tokens, parts of kThreads columns, striding); a thread owns single elements of dst. Ids outside the
// table give zeros. Elements of a block are decoded one by one: a step's tokens are few beside its layers.
// Preconditions: cols is a multiple of the block; the table is 2-byte aligned, of f32 4-byte aligned.
// Bytes moved: the rows as stored, 4 per element of dst.
#include <algorithm>

#include "kernels/cuda/device/dequantise.cuh"
#include "kernels/cuda/device/one_wave.cuh"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/rows.h"
#include "kernels/ref/reference.h"

namespace orrery::kernels::cuda {
namespace {

constexpr int kThreads = 256;

__global__ void __launch_bounds__(kThreads)
    embedding_kernel(const Embedding::Args args, const int64_t row_stride) {
  pdl_wait();
  pdl_trigger_in_one_wave();
  const int64_t token = blockIdx.x;
  const int64_t id = args.ids != nullptr ? args.ids[token] : token;
  const bool inside = id >= 0 && id < args.vocabulary;
  const uint8_t* row = static_cast<const uint8_t*>(args.table) + (inside ? id : 0) * row_stride;
  float* dst = args.dst + token * args.cols;
  const int64_t step = static_cast<int64_t>(gridDim.y) * kThreads;
  for (int64_t c = blockIdx.y * static_cast<int64_t>(kThreads) + threadIdx.x; c < args.cols; c += step)
    dst[c] = inside ? stored_at(args.dtype, row, c) * args.scale : 0.0F;
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
