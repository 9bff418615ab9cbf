// What the attention kernels share: elements of the key cache, where a key's row lies, which keys a query
// sees, and which rows of a ragged step a block owns.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstddef>
#include <cstdint>

#include "kernels/attention.h"
#include "kernels/cuda/launch.h"

namespace orrery::kernels::cuda {

/// Elements of a cache row; store() gives the bits of quantise_row (kernels/half.h), also of a NaN.
template <DType kKv>
struct KvType;

template <>
struct KvType<DType::f32> {
  static __host__ __device__ constexpr int row_bytes(int dim) { return 4 * dim; }
  static __device__ float load(const std::byte* row, int i) { return reinterpret_cast<const float*>(row)[i]; }
  static __device__ void store(std::byte* row, int i, float x) { reinterpret_cast<float*>(row)[i] = x; }
};

template <>
struct KvType<DType::f16> {
  static __host__ __device__ constexpr int row_bytes(int dim) { return 2 * dim; }
  static __device__ float load(const std::byte* row, int i) {
    return __half2float(reinterpret_cast<const __half*>(row)[i]);
  }
  static __device__ void store(std::byte* row, int i, float x) {
    const uint32_t bits = __float_as_uint(x);
    const bool nan = (bits & 0x7fffffffU) > 0x7f800000U;
    reinterpret_cast<uint16_t*>(row)[i] = nan ? static_cast<uint16_t>(((bits >> 16) & 0x8000U) | 0x7e00U)
                                              : __half_as_ushort(__float2half_rn(x));
  }
};

template <>
struct KvType<DType::bf16> {
  static __host__ __device__ constexpr int row_bytes(int dim) { return 2 * dim; }
  static __device__ float load(const std::byte* row, int i) {
    return __uint_as_float(static_cast<uint32_t>(reinterpret_cast<const uint16_t*>(row)[i]) << 16);
  }
  static __device__ void store(std::byte* row, int i, float x) {
    const uint32_t bits = __float_as_uint(x);
    const bool nan = (bits & 0x7fffffffU) > 0x7f800000U;
    reinterpret_cast<uint16_t*>(row)[i] =
        static_cast<uint16_t>(nan ? (bits >> 16) | 0x40U : (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16);
  }
};

template <>
struct KvType<DType::q8_0> {
  static __host__ __device__ constexpr int row_bytes(int dim) { return dim / 32 * 34; }
  static __device__ float load(const std::byte* row, int i) {
    const std::byte* block = row + i / 32 * 34;
    return __half2float(*reinterpret_cast<const __half*>(block)) *
           static_cast<float>(static_cast<int8_t>(block[2 + i % 32]));
  }
  /// One element of a block from each lane of a warp: d = largest / 127; NaN where one is not finite.
  static __device__ void store_block(std::byte* block, int lane, float x) {
    const bool finite = __all_sync(~0U, isfinite(x));
    float most = fabsf(x);
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2) most = fmaxf(most, __shfl_xor_sync(~0U, most, offset));
    const float d = __fdiv_rn(most, 127.0F);
    const float inverse = d < 0x1p-126F ? 0.0F : __fdiv_rn(1.0F, d);
    if (lane == 0)
      *reinterpret_cast<uint16_t*>(block) = finite ? __half_as_ushort(__float2half_rn(d)) : uint16_t{0x7e00};
    block[2 + lane] = static_cast<std::byte>(finite ? static_cast<int8_t>(roundf(__fmul_rn(x, inverse))) : 0);
  }
};

/// The sequence of a token of the step: the last one that starts at or before it and is not empty.
__device__ inline int sequence_of(const int32_t* starts, int sequences, int token) {
  int low = 0, high = sequences;  // starts[low] <= token < starts[high]
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (starts[middle] <= token)
      low = middle;
    else
      high = middle;
  }
  return low;
}

constexpr float kLog2E = 1.4426950408889634F;

/// Scores in powers of two: exp(score) = 2^logit.
struct Logit {
  float scale;       // of the dot product: without a softcap all of it, with one to the tanh's argument
  float cap = 0.0F;  // softcap * log2(e)

  static Logit of(const Attention::Args& args) {
    const float softcap = args.problem.softcap;
    if (softcap > 0) return {args.scale / softcap, softcap * kLog2E};
    return {args.scale * kLog2E, 0.0F};
  }
  __device__ float operator()(float dot) const { return cap > 0 ? cap * tanhf(dot * scale) : dot * scale; }
};

/// The rows (token, query head of the group) of one sequence and kv head that a block owns, and their keys.
/// Row r is token r / group, head r % group.
struct RowTile {
  int sequence;     // -1: none is left for this block
  int first_row;    // of the sequence's rows
  int rows;         // that the sequence has
  int first_token;  // of the step
  int length;       // keys of the sequence
  int first_position;
};

/// Tile `index` of all sequences' tiles; sequences that bring fewer than `least` tokens have none. The last
/// tile of a sequence, which sees most keys, comes first. To be called by whole warps.
__device__ inline RowTile find_tile(const Ragged& ragged, int group, int tile_rows, int index,
                                    int least = 1) {
  const auto sequences = static_cast<int>(ragged.sequences);
  const int lane = threadIdx.x % 32;
  int before = 0;
  for (int base = 0; base < sequences; base += 32) {
    const int s = base + lane;
    int tokens = s < sequences ? ragged.sequence_starts[s + 1] - ragged.sequence_starts[s] : 0;
    if (tokens < least) tokens = 0;
    const int tiles = (tokens * group + tile_rows - 1) / tile_rows;
    int upto = tiles;
    for (int offset = 1; offset < 32; offset *= 2) {
      const int left = __shfl_up_sync(~0U, upto, offset);
      if (lane >= offset) upto += left;
    }
    const unsigned found = __ballot_sync(~0U, before + upto > index);
    if (found != 0) {
      const int at = __ffs(found) - 1;
      const int last = before + __shfl_sync(~0U, upto, at) - 1;
      const int sequence = base + at;
      const int n = __shfl_sync(~0U, tokens, at);
      const int length = ragged.kv_lengths[sequence];
      return {.sequence = sequence,
              .first_row = (last - index) * tile_rows,
              .rows = n * group,
              .first_token = ragged.sequence_starts[sequence],
              .length = length,
              .first_position = length - n};
    }
    before += __shfl_sync(~0U, upto, 31);
  }
  return {.sequence = -1, .first_row = 0, .rows = 0, .first_token = 0, .length = 0, .first_position = 0};
}

/// Tiles that find_tile() can give, at most: what a grid is sized by.
inline unsigned tile_bound(const Attention::Args& args, int64_t tile_rows) {
  const int64_t group = args.problem.heads / args.problem.kv_heads;
  return static_cast<unsigned>((args.problem.tokens * group + tile_rows - 1) / tile_rows +
                               args.ragged.sequences);
}

/// Keys [begin, end) that a query sees.
struct KeyRange {
  int begin, end;
};

__device__ inline KeyRange visible_keys(const Attention::Problem& problem, int position, int length) {
  const bool bounded = problem.window > 0 && problem.window < length;
  const int window = bounded ? static_cast<int>(problem.window) : length;
  return {max(0, position + 1 - window), min(position + (problem.causal ? 1 : window), length)};
}

/// The keys and values of one sequence and kv head in pages of f16 or bf16, and which of them are seen.
struct KvPages {
  const std::byte* key;
  size_t value, stride;  // bytes from key to value, from page to page
  const int32_t* table;
  int tokens, row_bytes, head_dim;
  int begin, end;  // keys that are seen
  bool whole;      // 16 keys at a multiple of 16 lie in one page

  __device__ KvPages(const Attention::Args& args, int sequence, int kv_head, const KeyRange& seen)
      : stride(args.kv.page_stride),
        table(args.ragged.page_table + sequence * args.ragged.max_pages),
        tokens(static_cast<int>(args.kv.page_tokens)),
        row_bytes(static_cast<int>(args.problem.head_dim) * 2),
        head_dim(static_cast<int>(args.problem.head_dim)),
        begin(seen.begin),
        end(seen.end),
        whole(tokens % 16 == 0) {
    const size_t head = static_cast<size_t>(tokens) * row_bytes;
    key = args.kv.base + kv_head * head;
    value = args.kv.kv_heads * head;
  }
  /// Of a token's row, from `key` on.
  __device__ size_t offset(int page, int token) const {
    return static_cast<size_t>(page) * stride + static_cast<size_t>(token) * row_bytes;
  }
  __device__ size_t offset(int position) const {
    const int page = position / tokens;
    return offset(table[page], position - page * tokens);
  }
  __device__ bool sees(int position) const { return position >= begin && position < end; }
  __device__ bool sees_all(int first, int count) const { return first >= begin && first + count <= end; }
};

/// A token that its blocks compute alone; -1: none.
struct Owned {
  int sequence, token, position, length;
};

__device__ inline Owned owned_token(const Ragged& ragged, int index, bool by_sequence) {
  const int32_t* starts = ragged.sequence_starts;
  const auto sequences = static_cast<int>(ragged.sequences);
  // What is read is read together, whether or not there is such a token.
  const int tokens = starts[sequences];
  const int sequence = by_sequence ? index : sequence_of(starts, sequences, index);
  const int begin = starts[sequence], end = starts[sequence + 1], length = ragged.kv_lengths[sequence];
  if (by_sequence ? end - begin != 1 : index >= tokens)
    return {.sequence = sequence, .token = -1, .position = 0, .length = 0};
  const int token = by_sequence ? begin : index;
  return {.sequence = sequence, .token = token, .position = length - (end - token), .length = length};
}

/// Query heads that a block computes of one token: up to so many that share a kv head.
constexpr int kTokenHeads = 16;
struct TokenHeads {
  int kv_head, first, rows;
  int64_t column;  // of the first, in query and dst

  __device__ TokenHeads(const Attention::Problem& problem, int index) {
    const auto group = static_cast<int>(problem.heads / problem.kv_heads);
    const int tiles = (group + kTokenHeads - 1) / kTokenHeads;
    kv_head = index / tiles;
    const int before = index % tiles * kTokenHeads;
    first = kv_head * group + before;
    rows = min(kTokenHeads, group - before);
    column = static_cast<int64_t>(first) * problem.head_dim;
  }
};

}  // namespace orrery::kernels::cuda
