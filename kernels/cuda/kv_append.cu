// KvAppend on CUDA:
//   page(sequence, position)[key | value][head][slot][:] = round(key | value row of the token)
//   position = kv_length - n + i for token i of the n that the step brings; slot = position % page_tokens
//   key, value (tokens, kv_heads * head_dim) f32; pages f32, f16, bf16 or q8_0 (kernels/attention.h)
//   A warp owns one row of one head of one token at a time; lanes own its elements. The number of tokens is
//   known on the device only, so a grid for the plan's most walks over the rows.
//   Preconditions: the page table names a page for every position of the step.
//   Bytes moved: 2 * tokens * kv_heads * head_dim * (4 + size of kv).
#include <algorithm>

#include "kernels/attention.h"
#include "kernels/cuda/attention_common.cuh"
#include "kernels/cuda/device/one_wave.cuh"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/tile_config.h"

namespace orrery::kernels::cuda {
namespace {

constexpr int kThreads = 256;

template <DType kKv>
__global__ void __launch_bounds__(kThreads) append(KvAppend::Args args) {
  pdl_wait();
  pdl_trigger_in_one_wave();
  const Ragged& ragged = args.ragged;
  const PagedKv& kv = args.kv;
  const int32_t* starts = ragged.sequence_starts;
  const auto sequences = static_cast<int>(ragged.sequences);
  const auto page_tokens = static_cast<int>(kv.page_tokens);
  const auto dim = static_cast<int>(kv.head_dim);
  const auto rows = static_cast<int>(2 * kv.kv_heads);  // of one token: its keys, then its values
  const int64_t items = static_cast<int64_t>(starts[sequences]) * rows;
  const int lane = threadIdx.x % 32;
  const int64_t first = static_cast<int64_t>(threadIdx.x / 32) * gridDim.x + blockIdx.x;
  const int64_t step = static_cast<int64_t>(gridDim.x) * (kThreads / 32);
  for (int64_t item = first; item < items; item += step) {
    const auto token = static_cast<int>(item / rows);
    const auto row = static_cast<int>(item - static_cast<int64_t>(token) * rows);
    const int s = sequence_of(starts, sequences, token);
    const int position = ragged.kv_lengths[s] - (starts[s + 1] - token);
    const int page = ragged.page_table[s * ragged.max_pages + position / page_tokens];
    const bool value = row >= kv.kv_heads;
    const int64_t head = value ? row - kv.kv_heads : row;
    const float* src =
        (value ? args.value + token * args.value_stride : args.key + token * args.key_stride) + head * dim;
    std::byte* dst =
        kv.base + static_cast<size_t>(page) * kv.page_stride +
        (static_cast<size_t>(row) * page_tokens + position % page_tokens) * KvType<kKv>::row_bytes(dim);
    if constexpr (kKv == DType::q8_0) {
      for (int b = 0; b < dim / 32; ++b) KvType<kKv>::store_block(dst + b * 34, lane, src[32 * b + lane]);
    } else {
      for (int d = lane; d < dim; d += 32) KvType<kKv>::store(dst, d, src[d]);
    }
  }
}

void run(const KvAppend::Args& args, const Launch& launch) {
  if (args.ragged.sequences == 0) return;
  const int64_t rows = args.tokens * 2 * args.kv.kv_heads;
  const CardMachine& card = current_card();
  const int64_t most = card.multiprocessors * config_of(card).append_blocks;  // all that run at once
  const int64_t blocks = std::clamp<int64_t>((rows * 32 + kThreads - 1) / kThreads, 1, most);
  const auto start = [&](auto* kernel) {
    launch_kernel(launch, kernel, dim3(static_cast<unsigned>(blocks)), dim3(kThreads), 0, args);
  };
  switch (args.kv.dtype) {
    case DType::f32:
      return start(append<DType::f32>);
    case DType::bf16:
      return start(append<DType::bf16>);
    case DType::q8_0:
      return start(append<DType::q8_0>);
    default:
      return start(append<DType::f16>);
  }
}

}  // namespace

std::span<const Row<KvAppend>> kv_append_rows() {
  static const Row<KvAppend> rows[] = {
      {.name = "cuda.append",
       .device = DeviceKind::cuda,
       .supports = on_any_machine<KvAppend, ref::legal>,
       .run = run},
  };
  return rows;
}

}  // namespace orrery::kernels::cuda
