// Fastmax over tensors (batch, heads, tokens, head_dim), whole at once, and its gradients: attention whose
// weights are a polynomial of the scores (Gerami et al. 2024, arXiv 2402.07901). Of one batch and head,
// query i and key j:
//   q_i = c_q query_i                  c = limit / the longest row of the tensor's batch and head (the first
//   k_j = c_k key_j / temperature          of equals), where normalised, else 1; 0 where that is zero
//         + rpe[(j + keys) mod (2 keys - 1)]      where there is rpe
//   f(s) = a0 + a1 s + a2 s^2          s_ij = q_i . k_j; p = 1: without a2
//   seen   j <= i + keys - queries where causal (the last query and the last key stand side by side),
//          else all
//   o_i  = sum_j f(s_ij) value_j / sum_j f(s_ij) over the keys that are seen, 0 where there is none
//   out  = o (1 + rate noise) of that dropout, else o
// Query head h reads key and value head h / (heads / kv_heads). rpe is added to a key by its own place, so it
// factorises; the authors' code (fastmax_cuda_forward.cu) has the same row numbers, and loses the temperature
// where it normalises: they divide by it first, here it counts in both cases.
//
// Gradients, with d_i = grad_out_i (1 + rate noise_i), g_i = d_i / sum_j f(s_ij), w_ij = f'(s_ij) g_i .
// (value_j - o_i):
//   grad_value_j = sum_i f(s_ij) g_i       e_i = sum_j w_ij k_j      h_j = sum_i w_ij q_i
//   grad_query_i = c_q e_i - [i is the longest] (c_q / |query_i|^2) (sum_l e_l . query_l) query_i
//   grad_key_j   = (c_k h_j - [j is the longest] (c_k / |key_j|^2) (sum_l h_l . key_l) key_j) / temperature
//   grad_rpe     = h, added up over batches and heads, in the rows that it was read from; 0 in all others
// where the sums of a key and value run over the query heads that read them too. The forward call is computed
// again; nothing is kept of it.
//
// Two forms give the same: the direct one makes every f(s_ij); the factorised one writes
//   f(q . k) = sum_t c_t x_t(q) x_t(k), x = (1, x_m, x_m x_n with m <= n), c = (a0, a1, a2, 2 a2 for m < n),
// so that sum_j f(s_ij) (value_j, 1) = sum_t c_t x_t(q_i) (sum_j x_t(k_j) (value_j, 1)): a state of
// (1 + d + d (d + 1) / 2) (d + 1) sums, whatever the tokens. Its cost grows as tokens d^(p + 1), that of the
// direct form as tokens^2 d. Gradients have the same shape, with (g_i, -g_i . o_i) in place of (value_j, 1).
//
// Dropout has two forms.
//   noise     normally distributed: given, or drawn by normal_noise() at row (batch heads + head) queries + i
//             and the element's column, the same on any grid
//   features  x_m x_n with m <= n (p = 1: x_m) of a query and of a key become 0 with a probability, what
//             stays is divided by 1 - probability: Dropout::keeps at the row of its query (or key:
//             (batch kv_heads + kv_head) keys + j), column the number of the feature in the order (0, 0),
//             (0, 1) .. (1, 1) .., in two streams. A score is then no function of q . k: factorised only.
// No weight falls below zero where may_be_negative() is false; elsewhere the quotient is taken as it comes.
// The same call gives the same bits. NaN and infinities go where the formula takes them; those of a value
// also to queries that do not see it, where both are in one block (their weight is 0, and 0 times NaN is
// NaN).
#pragma once

#include <cmath>

#include "kernels/dropout.h"
#include "kernels/head_strides.h"
#include "kernels/row.h"

namespace orrery::kernels {

/// Element (row, col) of a matrix of numbers that are normally distributed, mean 0 and deviation 1: Box and
/// Muller of the words of Philox4x32-10 at counter (col / 4, row, stream), a pair of numbers for two words.
template <class Real>
ORRERY_HOST_DEVICE_INLINE Real normal_noise(uint64_t seed, int64_t row, int64_t col) {
  constexpr uint32_t kNoiseStream = 0x6e6f6973;
  uint32_t words[4] = {};
  Dropout::set_counter(row, col / 4, kNoiseStream, words);
  philox_rounds(words, static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32));
  const bool second = col % 4 >= 2;
  const uint32_t first_word = second ? words[2] : words[0], second_word = second ? words[3] : words[1];
  const Real uniform = static_cast<Real>((first_word >> 8) + 1) * static_cast<Real>(0x1p-24);  // (0, 1]
  const Real angle = static_cast<Real>(second_word >> 8) * static_cast<Real>(6.283185307179586 * 0x1p-24);
  const Real length = std::sqrt(static_cast<Real>(-2) * std::log(uniform));
  return length * (col % 2 == 0 ? std::cos(angle) : std::sin(angle));
}

struct Fastmax {
  static constexpr std::string_view kName = "fastmax";
  static constexpr int64_t kLargestHead = 256;
  enum class Dropping : uint8_t { none, noise, features };
  // Streams of the masks of features.
  static constexpr uint32_t kQueryStream = 0x66717279, kKeyStream = 0x666b6579;

  struct Problem {
    DType dtype = DType::f32;  // of query, key, value, rpe, noise and out: f32, f16 or bf16
    int64_t heads = 1, kv_heads = 1, head_dim = 64;  // head_dim from 1 to kLargestHead
    int p = 2;                                       // 1 or 2
    bool causal = false;
    bool normalise = true;
    bool has_rpe = false;
    Dropping dropping = Dropping::none;
    bool aligned = true;  // rows of query, key, value, out and grad_out begin at multiples of 16 bytes
    int64_t batch = 1, queries = 1, keys = 1;  // at most, in a call
  };
  struct Args {
    Problem problem;
    int64_t batch = 0, queries = 0, keys = 0;
    const void* query = nullptr;
    const void* key = nullptr;
    const void* value = nullptr;
    HeadStrides query_strides, key_strides, value_strides;
    const void* rpe = nullptr;    // at least 2 keys - 1 rows of head_dim, without gaps
    const void* noise = nullptr;  // (batch, heads, queries, head_dim) without gaps; null: drawn
    void* out = nullptr;
    HeadStrides out_strides;
    float a0 = 1.0F, a1 = 1.0F, a2 = 0.5F;
    float limit = 1.0F, temperature = 1.0F;
    double rate = 0;  // of the noise, or the probability of a feature to become 0
    uint64_t seed = 0;
  };

  /// Whether a weight may be below zero, of operands of any size: of p = 2 the parabola must stay above zero,
  /// of p = 1 scores must be bounded.
  static bool may_be_negative(const Problem& problem, double a0, double a1, double a2, double limit,
                              double temperature) {
    if (problem.dropping == Dropping::features) return a1 != 0 || a2 != 0 || a0 < 0;  // no square of s
    if (problem.p == 2) return !(a0 > 0 && a1 * a1 < 4 * a0 * a2);
    if (!problem.normalise || problem.has_rpe) return a1 != 0 || a0 < 0;
    return !(a0 >= 0 && limit * limit / std::abs(temperature) * std::abs(a1) <= a0);
  }
};
std::span<const Row<Fastmax>> fastmax_rows();
namespace cuda {
std::span<const Row<Fastmax>> fastmax_rows();
}
namespace ref {
void fastmax(const Fastmax::Args& args, const Launch& launch);
std::string legal(const Fastmax::Problem& problem);
}  // namespace ref

struct FastmaxBackward {
  static constexpr std::string_view kName = "fastmax_backward";
  struct Problem {
    Fastmax::Problem forward;
  };
  struct Args {
    Problem problem;
    Fastmax::Args forward;  // its out is not read
    const void* grad_out = nullptr;
    HeadStrides grad_out_strides;
    // Without gaps; null: not wanted.
    void* grad_query = nullptr;
    void* grad_key = nullptr;
    void* grad_value = nullptr;
    void* grad_rpe = nullptr;
    int64_t rpe_rows = 0;  // that grad_rpe has
  };
};
std::span<const Row<FastmaxBackward>> fastmax_backward_rows();
namespace cuda {
std::span<const Row<FastmaxBackward>> fastmax_backward_rows();
}
namespace ref {
void fastmax_backward(const FastmaxBackward::Args& args, const Launch& launch);
std::string legal(const FastmaxBackward::Problem& problem);
}  // namespace ref

}  // namespace orrery::kernels
