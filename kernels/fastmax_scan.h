// Fastmax over the text of a sequence of which a state of fixed size is kept (Gerami et al. 2024, arXiv
// 2402.07901): what Attention of that kind gives (kernels/attention.h), in the factorised form of
// kernels/fastmax.h, token after token:
//   q = c query       k = c' key       normalised: c = limit^2 / |query|, c' = 1 / |key|; else: c = scale, c'
//   = 1 S_t += x_t(k) value                z_t += x_t(k)                                 for each feature t
//   dst = sum_t w_t x_t(q) S_t / sum_t w_t x_t(q) z_t,  0 where the divisor is 0 or below
// Query head h reads key, value and state of kv head h / (heads / kv_heads). Lengths count from
// Attention::Fastmax::kShortest to kLongest. Scores are not cut at kLargestScore, and p = 1 is legal where no
// weight can be below zero: normalised, with a limit of at most 1.
//
// Features come in quads, so that a quad is a product of one number and four that lie side by side:
//   (1, 0, 0, 0); (x_n .. x_n+3) for n = 0, 4 ..; p = 2: x_m (x_n .. x_n+3) for m = 0, 1 .. and n = 4 (m /
//   4), + 4
//   ..
// where x_n is 0 behind head_dim. Pairs m, n of one block of four stand there twice, with the weight 1/2; all
// others once, as x_m x_n = x_n x_m, with the weight 1. That is 5 % more than the least for 64 dims.
//
// The state of one layer: [kv_heads] of S [features][head_dim], then [kv_heads] of z [features]; float32. It
// lies in a record of its own, and a step says of each of its sequences which record it goes on from, and
// which ones it leaves (`RecordUse`). All else is f32 rows. However a text is cut into steps, each number is
// the same on one row.
#pragma once

#include <cstdint>

#include "kernels/attention.h"
#include "kernels/host_device.h"

namespace orrery::kernels {

/// Records of one state: number r begins at base + r * stride (bytes).
struct Records {
  std::byte* base = nullptr;
  size_t stride = 0;
};

/// One sequence of a step and its records, by their numbers; -1: none. What it leaves after its first
/// `middle_tokens` tokens is kept in `middle` as a place to come back to, what it leaves at last in `after`,
/// which may be `before`. Without `before` the text begins. Without `after` nobody reads what it gives.
struct RecordUse {
  int32_t before = -1, middle = -1, middle_tokens = 0, after = -1;
};

/// Tokens of a sequence between two of its records.
struct RecordRun {
  int64_t row = 0, tokens = 0;    // rows [row, row + tokens) of the step; 0 tokens copy the record
  const float* before = nullptr;  // null: zeros
  float* after = nullptr;         // may be `before`
};

/// body(RecordRun) for the tokens that a step brings of one sequence, in their order.
ORRERY_NO_EXEC_CHECK
template <class Body>
ORRERY_HOST_DEVICE_INLINE void each_record_run(const Ragged& ragged, const Records& records,
                                               const RecordUse* uses, int64_t sequence, Body&& body) {
  const RecordUse& use = uses[sequence];
  if (use.after < 0) return;
  const auto record = [&](int32_t number) {
    return number < 0 ? nullptr
                      : reinterpret_cast<float*>(records.base + static_cast<size_t>(number) * records.stride);
  };
  const int64_t row = ragged.sequence_starts[sequence];
  const int64_t tokens = ragged.sequence_starts[sequence + 1] - row;
  if (use.middle < 0) return body(RecordRun{row, tokens, record(use.before), record(use.after)});
  const int64_t first = use.middle_tokens;
  body(RecordRun{row, first, record(use.before), record(use.middle)});
  body(RecordRun{row + first, tokens - first, record(use.middle), record(use.after)});
}

struct FastmaxScan {
  static constexpr std::string_view kName = "fastmax_scan";
  static constexpr int64_t kQuad = 4;
  static constexpr int64_t kLargestHead = 256;
  struct Problem {
    int64_t heads = 0, kv_heads = 0, head_dim = 0;
    Attention::Fastmax fastmax = {};
    int64_t tokens = 1;  // upper bound of the plan's bucket
  };
  struct Args {
    Problem problem;
    const float* query = nullptr;  // (tokens, heads * head_dim)
    const float* key = nullptr;    // (tokens, kv_heads * head_dim)
    const float* value = nullptr;  // the same
    float* dst = nullptr;          // (tokens, heads * head_dim); none of the above
    float scale = 1.0F;            // where it does not normalise
    Ragged ragged;
    const RecordUse* uses = nullptr;  // (sequences)
    Records records;
  };

  /// head_dim in whole quads.
  ORRERY_HOST_DEVICE_INLINE static int64_t padded(int64_t head_dim) {
    return (head_dim + kQuad - 1) / kQuad * kQuad;
  }
  /// Features before those of x_m x_n.
  ORRERY_HOST_DEVICE_INLINE static int64_t pairs_begin(int64_t head_dim) { return kQuad + padded(head_dim); }
  /// Of a kv head, with those that stand twice or are 0.
  ORRERY_HOST_DEVICE_INLINE static int64_t features(int p, int64_t head_dim) {
    const int64_t blocks = padded(head_dim) / kQuad;
    return pairs_begin(head_dim) + (p == 2 ? kQuad * kQuad * blocks * (blocks + 1) / 2 : 0);
  }
  /// Of a record.
  ORRERY_HOST_DEVICE_INLINE static int64_t floats(const Problem& problem) {
    return problem.kv_heads * features(problem.fastmax.p, problem.head_dim) * (problem.head_dim + 1);
  }
  /// Where S and z of a kv head begin in a record.
  ORRERY_HOST_DEVICE_INLINE static int64_t sums_at(const Problem& problem, int64_t kv_head) {
    return kv_head * features(problem.fastmax.p, problem.head_dim) * problem.head_dim;
  }
  ORRERY_HOST_DEVICE_INLINE static int64_t counts_at(const Problem& problem, int64_t kv_head) {
    return sums_at(problem, problem.kv_heads) + kv_head * features(problem.fastmax.p, problem.head_dim);
  }
};
std::span<const Row<FastmaxScan>> fastmax_scan_rows();
namespace cuda {
std::span<const Row<FastmaxScan>> fastmax_scan_rows();
}
namespace ref {
/// Kept in float32 from token to token, as in a record; all else is float64.
void fastmax_scan(const FastmaxScan::Args& args, const Launch& launch);
std::string legal(const FastmaxScan::Problem& problem);
}  // namespace ref

}  // namespace orrery::kernels
