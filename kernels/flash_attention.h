// Attention over tensors (batch, heads, tokens, head_dim), whole at once, and its gradients: FlashAttention-2
// (Dao 2023, arXiv 2307.08691), nothing of the size queries x keys but what the caller gave or asks for.
// Of one batch entry and head, query i and key j, with t = j - (i + keys - queries), keys and queries being
// the lengths of that entry, so that its last query and its last key stand side by side:
//   s_ij = scale query_i . key_j + bias_ij; softcap c > 0: the product first bent to c tanh(product / c)
//   seen   j < keys, t <= 0 where causal, t >= -window_left and t <= window_right where those are
//          not negative, and mask_ij where there is a mask
//   log_sum_exp_i = log sum over the seen j of exp(s_ij)
//   p_ij = exp(s_ij - log_sum_exp_i) where seen, else 0
//   out_i = sum_j keep(i, j) p_ij value_j / (1 - dropout)
// A query that sees no key, and one at or after the queries of its entry, gives 0 and a log_sum_exp of
// -infinity. And with d_ij = keep(i, j) grad_out_i . value_j / (1 - dropout), g_i = grad_out_i . out_i:
//   ds_ij = p_ij (d_ij - g_i)                          grad_bias = ds
//   e_ij  = scale ds_ij, with a softcap times 1 - (tanh of the bent product)^2
//   grad_query_i = sum_j e_ij key_j      grad_key_j = sum_i e_ij query_i
//   grad_value_j = sum_i keep(i, j) p_ij grad_out_i / (1 - dropout)
// where the sums of a key and value run over the query heads that read them too.
//   keep   Dropout::keeps(row, col) of dropout.h at row (batch heads + head) queries + i and column j,
//          with the stream kAttentionStream: who computes it, and in what order, does not matter.
// Query head h reads key and value head h / (heads / kv_heads). The same call gives the same bits.
#pragma once

#include "kernels/dropout.h"
#include "kernels/head_strides.h"
#include "kernels/row.h"

namespace orrery::kernels {

struct FlashAttention {
  static constexpr std::string_view kName = "flash_attention";
  static constexpr int64_t kLargestHead = 256;
  struct Problem {
    DType dtype = DType::f32;                        // of query, key, value and out: f32, f16 or bf16
    int64_t heads = 1, kv_heads = 1, head_dim = 64;  // head_dim from 1 to kLargestHead
    bool causal = false;
    int64_t window_left = -1, window_right = -1;  // below 0: no window on that side
    float softcap = 0.0F;                         // 0: none
    bool has_bias = false;                        // of the type f32 or `dtype`
    DType bias = DType::f32;
    bool has_mask = false;
    bool drops = false;
    bool has_lengths = false;
    /// Sums and products may be as coarse as this; f32 at `balanced` and finer is computed in float32.
    Precision precision = Precision::balanced;
    /// Rows of query, key, value and out (and of their gradients) begin at multiples of 16 bytes.
    bool aligned = true;
    int64_t batch = 1, queries = 1, keys = 1;  // at most, in a call
  };
  struct Args {
    Problem problem;
    int64_t batch = 0, queries = 0, keys = 0;
    const void* query = nullptr;
    const void* key = nullptr;
    const void* value = nullptr;
    HeadStrides query_strides, key_strides, value_strides;
    const void* bias = nullptr;
    ScoreStrides bias_strides;
    const uint8_t* mask = nullptr;  // not 0: seen
    ScoreStrides mask_strides;
    const int32_t* query_lengths = nullptr;  // (batch) each at most `queries`; null: all
    const int32_t* key_lengths = nullptr;    // (batch)
    void* out = nullptr;
    HeadStrides out_strides;
    float* log_sum_exp = nullptr;  // (batch, heads, queries) without gaps; null: not wanted
    float scale = 1.0F;
    Dropout dropout = {};
  };
};
std::span<const Row<FlashAttention>> flash_attention_rows();
namespace cuda {
std::span<const Row<FlashAttention>> flash_attention_rows();
}
namespace ref {
void flash_attention(const FlashAttention::Args& args, const Launch& launch);
/// Every step-th row of results alone, from the row step - 1 on: so much of a long call can be looked at.
void flash_attention_some(const FlashAttention::Args& args, int64_t step);
std::string legal(const FlashAttention::Problem& problem);
}  // namespace ref

struct FlashAttentionBackward {
  static constexpr std::string_view kName = "flash_attention_backward";
  struct Problem {
    FlashAttention::Problem forward;
    bool wants_bias = false;  // grad_bias
  };
  struct Args {
    Problem problem;
    FlashAttention::Args forward;  // its out and log_sum_exp are read
    const void* grad_out = nullptr;
    HeadStrides grad_out_strides;
    void* grad_query = nullptr;  // without gaps, as all gradients; null: not wanted
    void* grad_key = nullptr;
    void* grad_value = nullptr;
    float* grad_bias = nullptr;  // (batch, heads, queries, keys), whatever the shape of bias
  };
};
std::span<const Row<FlashAttentionBackward>> flash_attention_backward_rows();
namespace cuda {
std::span<const Row<FlashAttentionBackward>> flash_attention_backward_rows();
}
namespace ref {
void flash_attention_backward(const FlashAttentionBackward::Args& args, const Launch& launch);
/// Of the rows of queries (grad_query, grad_bias) and of those of keys, as above; the others are zero.
void flash_attention_backward_some(const FlashAttentionBackward::Args& args, int64_t query_step,
                                   int64_t key_step);
std::string legal(const FlashAttentionBackward::Problem& problem);
}  // namespace ref

}  // namespace orrery::kernels
