// Sampling: one token per output row from its logits, and log-probabilities of the same pass.
// Order: penalties of the n times that a token is among the recent ones, l > 0 ? l / repeat : l * repeat
// (Keskar et al. 2019), then l -= n * frequency + presence (as OpenAI's API has them) -> bias is added
// -> top-k -> temperature and softmax -> top-p (the smallest set whose mass reaches p, the token that crosses
// it kept) -> min-p (p_i >= min_p * p_max) -> draw.
// temperature 0 is greedy: penalties and bias, then the largest logit. Ties go to the lower id, everywhere.
// The draw is the inverse CDF over the kept tokens in (probability descending, id ascending) order at u =
// philox(seed, position) in [0, 1): it depends on seed, position and logits only, not on the batch. logprob
// and top are of the untouched logits' softmax. NaN counts as -infinity and is never drawn; +infinity counts
// as the largest float, and where that is the largest logit its lowest id is drawn; a row without a finite
// logit, or with none that bias leaves, gives id -1 and logprob -infinity. A request with a chain
// (sampler_chain.h) has more samplers, in an order of its own; devices do not draw those.
#pragma once

#include <cfloat>

#include "kernels/host_device.h"
#include "kernels/row.h"

namespace orrery::kernels {

/// A value that is not a number turns what it sets off.
struct SamplingParams {
  float temperature = 0.8F;
  int32_t top_k = 40;  // 0: all
  float top_p = 0.95F;
  float min_p = 0.05F;
  float repeat_penalty = 1.0F;
  uint64_t seed = 0;
  float frequency_penalty = 0.0F, presence_penalty = 0.0F;

  ORRERY_HOST_DEVICE_INLINE static bool is_number(float x) { return x >= -FLT_MAX && x <= FLT_MAX; }
  ORRERY_HOST_DEVICE_INLINE bool repeats() const {
    return repeat_penalty > 0 && is_number(repeat_penalty) && repeat_penalty != 1.0F;
  }
  ORRERY_HOST_DEVICE_INLINE double frequency() const {
    return is_number(frequency_penalty) ? frequency_penalty : 0;
  }
  ORRERY_HOST_DEVICE_INLINE double presence() const {
    return is_number(presence_penalty) ? presence_penalty : 0;
  }
};

struct SamplerChain;

struct Sample {
  static constexpr std::string_view kName = "sample";
  static constexpr int kMaxTop = 20;

  struct Request {
    SamplingParams params;
    uint64_t position = 0;  // counter of the draw: the token's position in its sequence
    const int32_t* recent =
        nullptr;  // ids that the penalties see; those outside the vocabulary count nothing
    int32_t recent_count = 0;
    int32_t top = 0;      // how many of the most probable to report, <= kMaxTop
    int32_t target = -1;  // >= 0: no draw; id is the target, logprob its log-probability (scoring)
    const SamplerChain* chain = nullptr;  // null: the plain order above
    const float* bias = nullptr;          // (vocabulary); null: none. A chain has its own
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
    bool chains = false;       // requests may have one
    DType dtype = DType::f32;  // of logits: a float
  };
  /// One request for all outputs; what differs from one to the next, and what is drawn, are tensors.
  struct Batch {
    Request each;                                // of output 0
    int64_t recent_stride = 0, bias_stride = 0;  // between the outputs' own
    const int64_t* seeds = nullptr;              // (outputs); null: that of `each`
    const int64_t* positions = nullptr;
    int64_t* tokens = nullptr;      // (outputs)
    float* logprobs = nullptr;      // (outputs)
    int64_t* top_tokens = nullptr;  // (outputs, each.top), -1 where there are fewer; null: not wanted
    float* top_logprobs = nullptr;  // -infinity there; null: not wanted
  };
  struct Args {
    const void* logits = nullptr;       // (outputs, vocabulary)
    const Request* requests = nullptr;  // (outputs); null: those of the batch
    Choice* choices = nullptr;          // (outputs); null: to the tensors of the batch
    int32_t* ids = nullptr;             // (outputs) each choice's id once more; null: not wanted
    int64_t outputs = 0, vocabulary = 0;
    DType dtype = DType::f32;
    Batch batch = {};
  };
};

/// The request of an output.
ORRERY_HOST_DEVICE_INLINE Sample::Request request_of(const Sample::Args& args, int64_t output) {
  if (args.requests != nullptr) return args.requests[output];
  const Sample::Batch& batch = args.batch;
  Sample::Request request = batch.each;
  if (batch.seeds != nullptr) request.params.seed = static_cast<uint64_t>(batch.seeds[output]);
  if (batch.positions != nullptr) request.position = static_cast<uint64_t>(batch.positions[output]);
  if (request.recent != nullptr) request.recent += output * batch.recent_stride;
  if (request.bias != nullptr) request.bias += output * batch.bias_stride;
  return request;
}

/// Whether the penalties change any logit of the request.
ORRERY_HOST_DEVICE_INLINE bool penalises(const Sample::Request& request) {
  const SamplingParams& params = request.params;
  return request.recent_count > 0 && (params.repeats() || params.frequency() != 0 || params.presence() != 0);
}

/// NaN as -infinity, +infinity as the largest float, so that a softmax stays defined; 0 for -0.
ORRERY_HOST_DEVICE_INLINE float clean_logit(float logit) {
  if (!(logit >= -FLT_MAX)) return -__builtin_huge_valf();
  return (logit > FLT_MAX ? FLT_MAX : logit) + 0.0F;
}

/// A clean logit of a token that is among the recent ones `seen` times, at least once. The sum is taken in
/// float64, where the product is exact, so that every device has the same bits.
ORRERY_HOST_DEVICE_INLINE float penalised(const SamplingParams& params, float logit, int64_t seen) {
  if (!SamplingParams::is_number(logit)) return logit;
  if (params.repeats()) logit = logit > 0 ? logit / params.repeat_penalty : logit * params.repeat_penalty;
  const double less = static_cast<double>(seen) * params.frequency() + params.presence();
  const double rest = static_cast<double>(logit) - less;
  if (rest > FLT_MAX) return FLT_MAX;
  return rest < -FLT_MAX ? -FLT_MAX : static_cast<float>(rest) + 0.0F;
}

/// Writes an output's choice to where the call wants it.
inline void put_choice(const Sample::Args& args, int64_t output, const Sample::Choice& choice) {
  if (args.choices != nullptr) args.choices[output] = choice;
  if (args.ids != nullptr) args.ids[output] = choice.id;
  const Sample::Batch& batch = args.batch;
  if (batch.tokens != nullptr) batch.tokens[output] = choice.id;
  if (batch.logprobs != nullptr) batch.logprobs[output] = choice.logprob;
  for (int32_t i = 0; i < batch.each.top; ++i) {
    const int64_t to = output * batch.each.top + i;
    const bool there = i < choice.top_count;
    if (batch.top_tokens != nullptr) batch.top_tokens[to] = there ? choice.top_ids[i] : -1;
    if (batch.top_logprobs != nullptr)
      batch.top_logprobs[to] = there ? choice.top_logprobs[i] : -__builtin_huge_valf();
  }
}

std::span<const Row<Sample>> sample_rows();
namespace cuda {
std::span<const Row<Sample>> sample_rows();
}
namespace ref {
void sample(const Sample::Args& args, const Launch& launch);
std::string legal(const Sample::Problem& problem);
}  // namespace ref

}  // namespace orrery::kernels
