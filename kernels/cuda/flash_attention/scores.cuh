// Between the products of attention over tensors (flash_attention.h): which keys a query sees, what a product
// becomes before the exponential, and which weights stay. Scores are in powers of two: exp(s) = 2^(s log2 e).
#pragma once

#include <cuda_runtime.h>

#include <algorithm>

#include "kernels/cuda/device/element.cuh"
#include "kernels/cuda/launch.h"
#include "kernels/flash_attention.h"

namespace orrery::kernels::cuda::flash {

constexpr float kLog2OfE = 1.4426950408889634F, kLnOf2 = 0.6931471805599453F;
constexpr int kFar = 1 << 30;  // further than any key

/// Which keys the queries of one batch see but for a mask: query i those in [i + begin, i + end) and
/// [0, keys).
struct Band {
  int queries, keys, begin, end;

  __device__ Band(const FlashAttention::Args& args, int batch)
      : queries(count(args.query_lengths, batch, args.queries)),
        keys(count(args.key_lengths, batch, args.keys)) {
    const FlashAttention::Problem& problem = args.problem;
    const int shift = keys - queries;
    const auto near = [](int64_t window) { return static_cast<int>(min(window, int64_t{kFar / 2})); };
    begin = problem.window_left < 0 ? -kFar : shift - near(problem.window_left);
    end = problem.window_right < 0 ? kFar : shift + near(problem.window_right) + 1;
    if (problem.causal) end = min(end, shift + 1);
  }
  __device__ static int count(const int32_t* lengths, int batch, int64_t most) {
    const auto all = static_cast<int>(most);
    return lengths == nullptr ? all : max(0, min(lengths[batch], all));
  }
  __device__ bool sees(int query, int key) const {
    const int apart = key - query;
    return query < queries && key < keys && apart >= begin && apart < end;
  }
  /// Whether so many queries see all of so many keys.
  __device__ bool all_see(int query, int query_count, int key, int key_count) const {
    return query + query_count <= queries && key + key_count <= keys &&
           key - (query + query_count - 1) >= begin && key + key_count - 1 - query < end;
  }
  // Keys of queries, and queries of keys: the first, and behind the last.
  __device__ int first_key(int query) const { return max(0, query + begin); }
  __device__ int behind_key(int query) const { return min(keys, query + end); }
  __device__ int first_query(int key) const { return max(0, key - end + 1); }
  __device__ int behind_query(int key) const { return min(queries, key - begin + 1); }
};

/// Keys of so many queries from `first` on: some query sees [begin, end), all see [all_begin, all_end).
struct SeenKeys {
  int begin = 0, end = 0, all_begin = 0, all_end = 0;

  __device__ SeenKeys(const Band& band, int first, int count) {
    const int last = min(first + count, band.queries) - 1;
    if (last < first) return;
    begin = band.first_key(first), end = band.behind_key(last);
    all_begin = band.first_key(last), all_end = band.behind_key(first);
  }
  // In tiles of so many keys that begin at multiples of that:
  __device__ int start(int keys) const { return begin / keys * keys; }
  __device__ int tiles(int keys) const { return end > begin ? (end - start(keys) + keys - 1) / keys : 0; }
  __device__ bool has_edge(int key, int keys) const { return key < all_begin || key + keys > all_end; }
};

/// What a block computes: tile `tile` of one batch and head. Blocks that follow each other share keys.
struct Place {
  int tile, head, batch;

  __device__ Place(unsigned block, int tiles, int heads)
      : tile(static_cast<int>(block % tiles)),
        head(static_cast<int>(block / tiles % heads)),
        batch(static_cast<int>(block / tiles / heads)) {}
};

/// Bias, mask and softcap of one batch and query head.
struct Rule {
  const FlashAttention::Args& args;
  int64_t bias_at, mask_at, first_row;  // first_row: of the matrix that dropout has a mask of

  __device__ Rule(const FlashAttention::Args& args, int batch, int head)
      : args(args),
        bias_at(batch * args.bias_strides.batch + head * args.bias_strides.head),
        mask_at(batch * args.mask_strides.batch + head * args.mask_strides.head),
        first_row((batch * args.problem.heads + head) * args.queries) {}

  __device__ bool unmasked(int query, int key) const {
    return !args.problem.has_mask ||
           args.mask[mask_at + query * args.mask_strides.query + key * args.mask_strides.key] != 0;
  }
  __device__ float bias(int query, int key) const {
    if (!args.problem.has_bias) return 0.0F;
    return load_element<float>(args.problem.bias, args.bias,
                               bias_at + query * args.bias_strides.query + key * args.bias_strides.key);
  }
  /// The score of a key that is seen. `bent`: with a softcap, the tanh of the product.
  __device__ float score(float product, int query, int key, float& bent) const {
    float x = product * args.scale;
    const float cap = args.problem.softcap;
    bent = 0;
    if (cap > 0) {
      bent = tanhf(x / cap);
      x = cap * bent;
    }
    return (x + bias(query, key)) * kLog2OfE;
  }
  /// Bit k: whether the weight of key 4 group + k stays.
  __device__ unsigned kept(int query, int group) const {
    uint32_t words[4];
    args.dropout.words(first_row + query, group, words);
    unsigned bits = 0;
#pragma unroll
    for (int k = 0; k < 4; ++k) bits |= static_cast<unsigned>(args.dropout.keeps(words[k])) << k;
    return bits;
  }
};

/// What to subtract from scores; rows that saw no key yet subtract nothing.
__device__ inline float shift_of(float largest) { return largest == -INFINITY ? 0.0F : largest; }

/// log_sum_exp of scores in powers of two.
__device__ inline float log_of_sum(float largest, float sum) {
  return sum == 0 ? -INFINITY : (largest + log2f(sum)) * kLnOf2;
}

/// What recomputing weights subtracts from scores: all are 0 where no key was seen.
__device__ inline float shift_of_sum(float log_sum_exp) {
  return log_sum_exp == -INFINITY ? INFINITY : log_sum_exp * kLog2OfE;
}

/// 2^x, to the two last bits.
__device__ inline float fast_exp2(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

}  // namespace orrery::kernels::cuda::flash
