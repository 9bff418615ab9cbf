// Sampling: one token per output row from its logits, and log-probabilities of the same pass.
// Order: repetition penalty (Keskar et al. 2019) -> top-k -> temperature and softmax -> top-p (the smallest
// set whose mass reaches p, the token that crosses it kept) -> min-p (p_i >= min_p * p_max) -> draw.
// temperature 0 is greedy: the penalty, then the largest logit. Ties go to the lower id, everywhere. The draw
// is the inverse CDF over the kept tokens in (probability descending, id ascending) order at u = philox(seed,
// position) in [0, 1): it depends on seed, position and logits only, not on the batch. logprob and top are of
// the untouched logits' softmax. NaN counts as -infinity; a row without a finite logit gives id -1.
// A request with a chain (sampler_chain.h) has more samplers, in an order of its own; devices do not draw
// those.
#pragma once

#include "kernels/row.h"

namespace orrery::kernels {

struct SamplingParams {
  float temperature = 0.8F;
  int32_t top_k = 40;  // 0: all
  float top_p = 0.95F;
  float min_p = 0.05F;
  float repeat_penalty = 1.0F;
  uint64_t seed = 0;
};

struct SamplerChain;

struct Sample {
  static constexpr std::string_view kName = "sample";
  static constexpr int kMaxTop = 20;

  struct Request {
    SamplingParams params;
    uint64_t position = 0;            // counter of the draw: the token's position in its sequence
    const int32_t* recent = nullptr;  // ids that the repetition penalty sees
    int32_t recent_count = 0;
    int32_t top = 0;      // how many of the most probable to report, <= kMaxTop
    int32_t target = -1;  // >= 0: no draw; id is the target, logprob its log-probability (scoring)
    const SamplerChain* chain = nullptr;  // null: the plain order above
  };
  struct Choice {
    int32_t id = -1;
    float logprob = 0.0F;
    int32_t top_count = 0;
    int32_t top_ids[kMaxTop] = {};
    float top_logprobs[kMaxTop] = {};
  };
  struct Problem {
    int64_t vocabulary = 0;
    bool chains = false;  // requests may have one
  };
  struct Args {
    const float* logits = nullptr;      // (outputs, vocabulary)
    const Request* requests = nullptr;  // (outputs)
    Choice* choices = nullptr;          // (outputs)
    int32_t* ids = nullptr;             // (outputs) each choice's id once more; null: not wanted
    int64_t outputs = 0, vocabulary = 0;
  };
};
std::span<const Row<Sample>> sample_rows();
namespace cuda {
std::span<const Row<Sample>> sample_rows();
}
namespace ref {
void sample(const Sample::Args& args, const Launch& launch);
std::string legal(const Sample::Problem& problem);
}  // namespace ref

}  // namespace orrery::kernels
