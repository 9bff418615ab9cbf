// Attention over packed ragged sequences, flash style: running maximum and sum, nothing that holds tokens x
// keys (Dao et al. 2022, arXiv 2205.14135). Two ops:
//   KvAppend:  writes the step's keys and values into the pages of their sequences
//   Attention: dst = sum_j w_j value_j / sum_j w_j over the keys j that a query sees, zero where there is
//     none; keys from pages (decoder) or packed (encoder)
// How a score s becomes a weight w:
//   softmax: w = exp(s)      s = scale * query . key + bias, bent by a softcap
//   Fastmax (Gerami et al. 2024, arXiv 2402.07901): w = 1 + s + s^2 / 2 (p = 2) or 1 + s (p = 1)
//     normalised: s = q . k, query and key scaled to the length `limit`, each by its own length; the scale
//       counts as 1. The paper divides by the longest of a text, which is known once the text is whole: in
//       generation a later token must not change what an earlier one gave.
//     else: s = scale * query . key
//     With limit <= 1 no weight of p = 1 is negative. Elsewhere one below zero counts as zero, so that dst is
//     always a mean of values, or zero where no weight is left. For the same reason scores count up to
//     Fastmax::kLargestScore, and lengths from kShortest to kLongest.
// Layout of one page of one layer: key [kv_heads][page_tokens][head_dim], then value the same, element type
// `kv`. Query head h reads kv head h / (heads / kv_heads). Query i of a sequence whose step brings n tokens
// and whose length after the step is L sits at position L - n + i.
#pragma once

#include "kernels/row.h"

namespace orrery::kernels {

/// The pages of one layer: page p begins at base + p * page_stride.
struct PagedKv {
  std::byte* base = nullptr;
  size_t page_stride = 0;    // bytes
  DType dtype = DType::f16;  // f32, f16, bf16; q8_0: head_dim is a multiple of 32
  int64_t page_tokens = 0, kv_heads = 0, head_dim = 0;
};

/// Bytes of one page of one layer.
constexpr size_t kv_page_bytes(DType dtype, int64_t page_tokens, int64_t kv_heads, int64_t head_dim) {
  return 2 * static_cast<size_t>(page_tokens * kv_heads) * row_bytes(dtype, head_dim).value_or(0);
}

/// Which rows of the step belong to which sequence, and where their keys live.
struct Ragged {
  const int32_t* sequence_starts = nullptr;  // (sequences + 1), prefix sums of the step's tokens
  const int32_t* kv_lengths = nullptr;  // (sequences) length after this step; encoder: the step's own length
  const int32_t* page_table = nullptr;  // (sequences, max_pages); null for packed keys
  int64_t sequences = 0, max_pages = 0;
  int64_t max_length = 0;  // no kv_length is larger; what a device sizes its grid by
};

struct KvAppend {
  static constexpr std::string_view kName = "kv_append";
  struct Problem {
    DType kv = DType::f16;
    int64_t head_dim = 0;
  };
  struct Args {
    const float* key = nullptr;    // (tokens, kv_heads * head_dim), row stride key_stride
    const float* value = nullptr;  // the same, value_stride
    int64_t key_stride = 0, value_stride = 0;
    int64_t tokens = 0;  // upper bound of the plan's bucket: what a device sizes its grid by
    Ragged ragged;
    PagedKv kv;
  };
};
std::span<const Row<KvAppend>> kv_append_rows();
namespace cuda {
std::span<const Row<KvAppend>> kv_append_rows();
}
namespace ref {
void kv_append(const KvAppend::Args& args, const Launch& launch);
std::string legal(const KvAppend::Problem& problem);
/// Empty when heads of head_dim can be kept in pages as `kv`.
std::string kept_refusal(DType kv, int64_t head_dim);
}  // namespace ref

struct Attention {
  static constexpr std::string_view kName = "attention";
  enum class Keys : uint8_t { paged, packed };
  enum class Kind : uint8_t { softmax, fastmax };
  struct Fastmax {
    static constexpr float kLargestScore = 65536.0F;  // of either sign; its square is far from float32's end
    static constexpr float kLargestLimit = 256.0F;    // whose square is that score
    static constexpr float kShortest = 0x1p-50F, kLongest = 0x1p50F;
    int32_t p = 2;  // 1 or 2
    bool normalise = true;
    float limit = 1.0F;  // above 0, at most kLargestLimit
  };
  struct Problem {
    Keys keys = Keys::paged;
    DType kv = DType::f16;  // packed: f32
    int64_t heads = 0, kv_heads = 0, head_dim = 0;
    int64_t tokens = 1;  // upper bound of the plan's bucket
    bool causal = true;
    /// A query sees the keys less than `window` before it, its own included, and without a causal mask those
    /// less than `window` behind it too; 0: all.
    int64_t window = 0;
    float softcap = 0.0F;  // 0: none
    /// Scores get a bias by the distance of key and query, which counts up to this; 0: none.
    int64_t bias_reach = 0;
    /// Of packed queries, keys, values and weights; keys in pages are read as they are kept.
    Precision precision = Precision::balanced;
    /// How packed queries, keys and values, and dst, are stored: f32, or what the row's `reads` and `writes`
    /// tell. The pointers of Args are then to elements of that type, and the strides count them.
    DType src = DType::f32, dst = DType::f32;
    /// Pages, and rows of packed operands, begin at multiples of 16 bytes where the size of a head allows it;
    /// else rows that read so much at a time refuse.
    bool aligned = true;
    Kind kind = Kind::softmax;
    Fastmax fastmax = {};  // of that kind, which has neither softcap nor bias
  };
  static Storage storage(const Problem& problem) { return {problem.src, problem.dst}; }
  struct Args {
    Problem problem;
    const float* query = nullptr;  // (tokens, heads * head_dim)
    int64_t query_stride = 0;
    const float* key = nullptr;  // packed only: (tokens, kv_heads * head_dim)
    const float* value = nullptr;
    int64_t key_stride = 0, value_stride = 0;
    float* dst = nullptr;  // (tokens, heads * head_dim)
    int64_t dst_stride = 0;
    float scale = 1.0F;
    /// (heads, 2 * bias_reach + 1): added to scale * query . key at key - query, cut to +-bias_reach, from
    /// -bias_reach on.
    const float* bias = nullptr;
    Ragged ragged;
    PagedKv kv;  // paged only
  };
};
std::span<const Row<Attention>> attention_rows();
namespace cuda {
std::span<const Row<Attention>> attention_rows();
}
namespace ref {
void attention(const Attention::Args& args, const Launch& launch);
std::string legal(const Attention::Problem& problem);
/// Legal and of this kind: the first question of a row that computes one kind.
template <Attention::Kind kind>
std::string legal_of(const Attention::Problem& problem);
}  // namespace ref

}  // namespace orrery::kernels
