// Rows whose sums came out infinite or as no number, once more, key by key. A weight of 0
// times infinity is no number, so what is not finite reaches rows of its tile that do not see it; here what
// is not seen is not read. A warp a row, float32; lanes have elements lane + 32 k. Called rarely, so that it
// is a function of its own, which takes no registers of those that call it.
#pragma once

#include "kernels/cuda/device/block_reduce.cuh"
#include "kernels/cuda/flash_attention/softmax.cuh"

namespace orrery::kernels::cuda::flash {

/// A lane's elements of a row of head_dim.
struct LaneElements {
  static constexpr int kMost = FlashAttention::kLargestHead / kWarp;
  float at[kMost] = {};

  LaneElements() = default;
  __device__ LaneElements(DType dtype, const void* from, int64_t row, int head_dim) {
    each(head_dim, [&](int d, float& x) { x = load_element<float>(dtype, from, row + d); });
  }
  template <class Visit>
  __device__ void each(int head_dim, Visit&& visit) {
#pragma unroll
    for (int k = 0; k < kMost; ++k) {
      const int d = static_cast<int>(threadIdx.x) % kWarp + kWarp * k;
      if (d < head_dim) visit(d, at[k]);
    }
  }
  __device__ float dot(const LaneElements& other) const {
    float sum = 0;
#pragma unroll
    for (int k = 0; k < kMost; ++k) sum = fmaf(at[k], other.at[k], sum);
    return warp_reduce(sum, Plus{});
  }
  __device__ void add(float weight, const LaneElements& row) {
#pragma unroll
    for (int k = 0; k < kMost; ++k) at[k] = fmaf(weight, row.at[k], at[k]);
  }
  /// Elements from `begin` on.
  __device__ void store(DType dtype, void* to, int64_t row, int begin, int end) {
    each(end, [&](int d, float& x) {
      if (d >= begin) store_element(dtype, x, to, row + d);
    });
  }
};

__device__ inline LaneElements row_of(DType dtype, const void* tensor, const HeadStrides& strides, int batch,
                                      int head, int token, int head_dim) {
  return {dtype, tensor, batch * strides.batch + head * strides.head + token * strides.token, head_dim};
}

/// First the maximum and the sum of the query's weights, then out.
__device__ __noinline__ inline void compute_out(const FlashAttention::Args& args, int batch, int head,
                                                int query) {
  const FlashAttention::Problem& problem = args.problem;
  const auto head_dim = static_cast<int>(problem.head_dim);
  const int kv_head = head / static_cast<int>(problem.heads / problem.kv_heads);
  const Band band(args, batch);
  const Rule rule(args, batch, head);
  const LaneElements own =
      row_of(problem.dtype, args.query, args.query_strides, batch, head, query, head_dim);
  const auto each_score = [&](auto&& visit) {
    for (int key = band.first_key(query); key < band.behind_key(query); ++key) {
      if (!rule.unmasked(query, key)) continue;
      float bent;
      visit(key, rule.score(own.dot(row_of(problem.dtype, args.key, args.key_strides, batch, kv_head, key,
                                           head_dim)),
                            query, key, bent));
    }
  };
  float largest = -INFINITY, sum = 0;
  each_score([&](int, float score) {
    const float most = fmaxf(largest, score), shift = shift_of(most);
    sum = sum * exp2f(largest - shift) + exp2f(score - shift);
    largest = most;
  });
  const float shift = shift_of(largest), share = problem.drops ? args.dropout.scale / sum : 1.0F / sum;
  LaneElements total;
  each_score([&](int key, float score) {
    if (problem.drops && !args.dropout.keeps(rule.first_row + query, key)) return;
    total.add(exp2f(score - shift) * share,
              row_of(problem.dtype, args.value, args.value_strides, batch, kv_head, key, head_dim));
  });
  total.store(problem.dtype, args.out,
              batch * args.out_strides.batch + head * args.out_strides.head + query * args.out_strides.token,
              0, head_dim);
}

/// What one query and one key add to gradients: e key_j to grad_query, e query_i to grad_key, `weight`
/// grad_out_i to grad_value.
struct Pair {
  float weight, e;

  __device__ Pair(const FlashAttention::Args& args, const Rule& rule, const float* sums, int query, int key,
                  float product, float grad) {
    const int64_t row = rule.first_row + query;
    float bent;
    const float score = rule.score(product, query, key, bent);
    const float p = exp2f(score - shift_of_sum(args.log_sum_exp[row]));
    const bool drops = args.problem.drops;
    const float stays = !drops ? 1.0F : args.dropout.keeps(row, key) ? args.dropout.scale : 0.0F;
    weight = p * stays;
    e = p == 0 ? 0.0F : p * ((stays == 0 ? 0.0F : grad * stays) - sums[row]) * args.scale * (1 - bent * bent);
  }
};

__device__ __noinline__ inline void compute_grad_query(const FlashAttentionBackward::Args& args,
                                                       const float* sums, int batch, int head, int query) {
  const FlashAttention::Args& forward = args.forward;
  const FlashAttention::Problem& problem = forward.problem;
  const auto head_dim = static_cast<int>(problem.head_dim);
  const int kv_head = head / static_cast<int>(problem.heads / problem.kv_heads);
  const Band band(forward, batch);
  const Rule rule(forward, batch, head);
  const auto row = [&](const void* tensor, const HeadStrides& strides, int of, int token) {
    return row_of(problem.dtype, tensor, strides, batch, of, token, head_dim);
  };
  const LaneElements own = row(forward.query, forward.query_strides, head, query);
  const LaneElements grad_out = row(args.grad_out, args.grad_out_strides, head, query);
  LaneElements total;
  for (int key = band.first_key(query); key < band.behind_key(query); ++key) {
    if (!rule.unmasked(query, key)) continue;
    const LaneElements other = row(forward.key, forward.key_strides, kv_head, key);
    const float product = own.dot(other);
    const float grad = grad_out.dot(row(forward.value, forward.value_strides, kv_head, key));
    total.add(Pair(forward, rule, sums, query, key, product, grad).e, other);
  }
  total.store(problem.dtype, args.grad_query, (rule.first_row + query) * head_dim, 0, head_dim);
}

/// Elements [begin, end) of grad_key and grad_value, as far as they are asked for.
__device__ __noinline__ inline void compute_grad_key(const FlashAttentionBackward::Args& args,
                                                     const float* sums, int batch, int kv_head, int key,
                                                     int begin, int end) {
  const FlashAttention::Args& forward = args.forward;
  const FlashAttention::Problem& problem = forward.problem;
  const auto head_dim = static_cast<int>(problem.head_dim);
  const auto group = static_cast<int>(problem.heads / problem.kv_heads);
  const Band band(forward, batch);
  const auto row = [&](const void* tensor, const HeadStrides& strides, int of, int token) {
    return row_of(problem.dtype, tensor, strides, batch, of, token, head_dim);
  };
  const LaneElements own = row(forward.key, forward.key_strides, kv_head, key);
  const LaneElements value = row(forward.value, forward.value_strides, kv_head, key);
  LaneElements of_key, of_value;
  for (int head = kv_head * group; head < (kv_head + 1) * group; ++head) {
    const Rule rule(forward, batch, head);
    for (int query = band.first_query(key); query < band.behind_query(key); ++query) {
      if (!rule.unmasked(query, key)) continue;
      const LaneElements other = row(forward.query, forward.query_strides, head, query);
      const LaneElements grad_out = row(args.grad_out, args.grad_out_strides, head, query);
      const float product = own.dot(other), grad = value.dot(grad_out);
      const Pair pair(forward, rule, sums, query, key, product, grad);
      of_key.add(pair.e, other);
      if (pair.weight != 0) of_value.add(pair.weight, grad_out);
    }
  }
  const int64_t to =
      ((static_cast<int64_t>(batch) * problem.kv_heads + kv_head) * forward.keys + key) * head_dim;
  if (args.grad_key != nullptr) of_key.store(problem.dtype, args.grad_key, to, begin, end);
  if (args.grad_value != nullptr) of_value.store(problem.dtype, args.grad_value, to, begin, end);
}

/// visit(row) for each of the warp's 16 rows, 4 lanes each, where a lane says of its rows g and g + 8 that
/// they are to be computed again.
template <class Visit>
__device__ inline void each_again(const bool (&again)[2], Visit&& visit) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    unsigned lanes = __ballot_sync(~0U, again[half]);
    if (lanes != 0) __syncwarp();  // what the warp has written before comes first
    while (lanes != 0) {
      const int g = (__ffs(static_cast<int>(lanes)) - 1) / 4;
      lanes &= ~(0xFU << 4 * g);
      visit(g + 8 * half);
    }
  }
}

/// visit(half) for each half of the warp, 16 lanes that own a row, of which some lane says that it is to be
/// computed again.
template <class Visit>
__device__ inline void each_again_of_halves(bool again, Visit&& visit) {
  const unsigned lanes = __ballot_sync(~0U, again);
  if (lanes == 0) return;
  __syncwarp();  // what the warp has written before comes first
#pragma unroll
  for (int half = 0; half < 2; ++half)
    if ((lanes >> 16 * half & 0xFFFFU) != 0) visit(half);
}

/// Whether some of a lane's totals of its rows g and g + 8 are not finite.
template <int kBlocks>
__device__ inline void find_broken(const float (&totals)[kBlocks][4], bool (&broken)[2]) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    float none = 0;  // stays so, or becomes no number
#pragma unroll
    for (int n = 0; n < kBlocks; ++n)
#pragma unroll
      for (int i = 2 * half; i < 2 * half + 2; ++i) none = fmaf(totals[n][i], 0.0F, none);
    broken[half] = none != 0;
  }
}

}  // namespace orrery::kernels::cuda::flash
