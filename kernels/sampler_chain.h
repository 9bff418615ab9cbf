// The samplers of a request beyond the plain ones, in the order that it asks for. Candidates are all tokens
// of finite logit; each sampler changes logits or takes candidates away; what is left is drawn from its
// softmax. l: logits as they are when the sampler's turn comes, p: their softmax over the candidates, log
// natural.
//   first        logit bias is added, then what the mask does not allow goes
//   penalties    tokens among the last penalty_range of the history, each seen n times:
//                l > 0 ? l / r : l * r (Keskar et al. 2019), then l -= n * frequency + presence
//   dry          a token that would lengthen a repetition of L tokens before it, L >= allowed:
//                l -= multiplier * base^(L - allowed); a repetition does not reach across a breaker, and a
//                token that is a breaker is left alone (the "don't repeat yourself" of text-generation-webui)
//   top_n_sigma  keeps l >= max l - n * sigma, sigma the standard deviation of l (Tang et al. 2024)
//   top_k        keeps the k largest l
//   temperature  l /= t; dynamic: t = low + (high - low) (H(p) / log count)^exponent, between t -+ range
//   typical      keeps the smallest set nearest to the entropy, by |-log p - H(p)|, whose mass reaches
//                typical_p (Meister et al. 2022)
//   top_p        keeps the smallest set of the largest p whose mass reaches top_p (Holtzman et al. 2020)
//   min_p        keeps p >= min_p * max p (Nguyen et al. 2024)
//   xtc          with xtc_probability: of the tokens with p >= xtc_threshold all go but the least likely
//                ("exclude top choices"); threshold 0: none
// Mirostat (Basu et al. 2021) takes the place of what takes candidates away: the others' turns stay. Its mu
// is 2 tau at first and follows the surprise of each token drawn:
//   1            keeps the k likeliest, k from mu and the Zipf exponent of the 100 likeliest, rounded
//   2            keeps -log2 p <= mu
// temperature 0 is greedy: bias, mask, penalties and dry, then the largest logit. One token always stays.
// Ties go to the lower id. A value that is not a number turns its sampler off.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/sample.h"

namespace orrery::kernels {

enum class Sampler : uint8_t {
  penalties,
  dry,
  top_n_sigma,
  top_k,
  temperature,
  typical,
  top_p,
  min_p,
  xtc,
};
inline constexpr int kSamplers = 9;

/// Plain data beside SamplingParams; pointers stay valid during the step. The values given here are off.
struct SamplerChain {
  Sampler order[kSamplers] = {Sampler::penalties, Sampler::dry,         Sampler::top_n_sigma,
                              Sampler::top_k,     Sampler::temperature, Sampler::typical,
                              Sampler::top_p,     Sampler::min_p,       Sampler::xtc};
  int32_t order_count = kSamplers;

  int32_t penalty_range = 64;  // tokens of the history; below 0: all
  float dry_multiplier = 0, dry_base = 1.75F;
  int32_t dry_allowed = 2, dry_range = -1;
  const std::vector<int32_t>* dry_breakers =
      nullptr;  // (dry_breaker_count), ascending; one or more tokens each
  int32_t dry_breaker_count = 0;
  float top_n_sigma = 0;
  float dynamic_range = 0, dynamic_exponent = 1;
  float typical_p = 1;
  float xtc_probability = 0, xtc_threshold = 0.1F;
  int32_t mirostat = 0;  // 1, 2
  float mirostat_tau = 5, mirostat_eta = 0.1F;
  double* mirostat_mu = nullptr;  // of the sequence, changed by the draw; null: 2 tau

  const int32_t* history = nullptr;  // (history_count), oldest first
  int32_t history_count = 0;
  const int32_t* bias_ids = nullptr;  // (bias_count)
  const float* biases = nullptr;
  int32_t bias_count = 0;
  const uint32_t* allowed = nullptr;  // one bit a token, from the lowest; null: all
};

/// The last `range` tokens of the history; below 0: all.
inline std::span<const int32_t> last_tokens(const SamplerChain& chain, int32_t range) {
  const auto count = static_cast<size_t>(chain.history_count > 0 ? chain.history_count : 0);
  const std::span<const int32_t> all(chain.history, count);
  return range < 0 || static_cast<size_t>(range) >= count ? all : all.last(static_cast<size_t>(range));
}

/// The token of a row of logits; -1 when none is allowed. Float64, one thread.
int32_t draw_by_chain(const SamplingParams& params, const SamplerChain& chain, uint64_t position,
                      std::span<const float> logits);

}  // namespace orrery::kernels
