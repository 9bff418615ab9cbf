#include "kernels/sampler_chain.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "kernels/philox.h"
#include "kernels/sampler_candidates.h"
#include "kernels/sampler_dry.h"

namespace orrery::kernels {
namespace {

constexpr uint32_t kXtcStream = 1;   // of the random numbers: the draw's is 0
constexpr size_t kZipfTokens = 100;  // that mirostat 1 estimates the exponent from

double bounded(double logit) { return std::clamp(logit, -kLargestLogit, kLargestLogit); }

class Chain {
 public:
  Chain(const SamplingParams& params, const SamplerChain& chain, uint64_t position)
      : params_(params), chain_(chain), position_(position) {}

  int32_t draw(std::span<const float> logits) {
    collect(logits);
    const bool greedy = !(params_.temperature > 0);
    for (int32_t i = 0; i < std::min(chain_.order_count, kSamplers) && !candidates_.empty(); ++i)
      if (runs(chain_.order[i], greedy)) apply(chain_.order[i]);
    if (candidates_.empty()) return -1;
    if (greedy) return std::min_element(candidates_.begin(), candidates_.end(), before)->id;
    if (chain_.mirostat == 1 || chain_.mirostat == 2) return mirostat();
    return pick(candidates_.softmax()).id;
  }

 private:
  /// What lowers logits always runs; a greedy choice needs nothing else, and mirostat cuts by itself.
  bool runs(Sampler sampler, bool greedy) const {
    if (sampler == Sampler::penalties || sampler == Sampler::dry) return true;
    if (greedy) return false;
    return sampler == Sampler::temperature || chain_.mirostat == 0;
  }

  void apply(Sampler sampler) {
    switch (sampler) {
      case Sampler::penalties:
        return penalise();
      case Sampler::dry:
        return dry();
      case Sampler::top_n_sigma:
        return top_n_sigma();
      case Sampler::top_k:
        return top_k();
      case Sampler::temperature:
        return temperature();
      case Sampler::typical:
        return typical();
      case Sampler::top_p:
        if (params_.top_p < 1) candidates_.keep_mass(params_.top_p);
        return;
      case Sampler::min_p:
        return min_p();
      case Sampler::xtc:
        return xtc();
    }
  }

  bool is_allowed(size_t id) const {
    return chain_.allowed == nullptr || (chain_.allowed[id / 32] >> (id % 32) & 1U) != 0;
  }

  void collect(std::span<const float> logits) {
    std::map<size_t, double> biases;
    for (int32_t i = 0; i < chain_.bias_count; ++i)
      if (chain_.bias_ids[i] >= 0) biases[static_cast<size_t>(chain_.bias_ids[i])] += chain_.biases[i];
    candidates_.reserve(logits.size());
    auto bias = biases.begin();
    for (size_t id = 0; id < logits.size(); ++id) {
      double logit = logits[id];
      if (bias != biases.end() && bias->first == id) logit += (bias++)->second;
      if (logit >= -kLargestLogit && is_allowed(id))  // not NaN, not -infinity
        candidates_.add({std::min(logit, kLargestLogit), static_cast<int32_t>(id)});
    }
  }

  /// Calls `change` with the logit and the value of each candidate that has one.
  template <class Value, class Change>
  void change_logits(const std::map<int32_t, Value>& values, Change change) {
    if (values.empty()) return;
    std::vector<bool> marked(static_cast<size_t>(std::max(values.rbegin()->first, 0)) + 1);
    for (const auto& [id, value] : values)
      if (id >= 0) marked[static_cast<size_t>(id)] = true;
    candidates_.change(false, [&](Candidate& c) {
      const auto id = static_cast<size_t>(c.id);
      if (id < marked.size() && marked[id]) c.logit = bounded(change(c.logit, values.find(c.id)->second));
    });
  }

  void penalise() {
    const double repeat = params_.repeat_penalty;
    const bool repeats = repeat > 0 && std::isfinite(repeat);
    const double frequency = std::isfinite(params_.frequency_penalty) ? params_.frequency_penalty : 0;
    const double presence = std::isfinite(params_.presence_penalty) ? params_.presence_penalty : 0;
    std::map<int32_t, int64_t> counts;
    for (const int32_t id : last_tokens(chain_, chain_.penalty_range)) ++counts[id];
    change_logits(counts, [&](double logit, int64_t count) {
      if (repeats) logit = logit > 0 ? logit / repeat : logit * repeat;
      return logit - static_cast<double>(count) * frequency - presence;
    });
  }

  void dry() {
    change_logits(dry_penalties(chain_), [](double logit, double penalty) { return logit - penalty; });
  }

  void top_n_sigma() {
    if (!(chain_.top_n_sigma > 0) || candidates_.size() < 2) return;
    const auto count = static_cast<double>(candidates_.size());
    double mean = 0, variance = 0;
    for (const Candidate& c : candidates_) mean += c.logit;
    mean /= count;
    for (const Candidate& c : candidates_) variance += (c.logit - mean) * (c.logit - mean);
    candidates_.keep_from(candidates_.largest() - chain_.top_n_sigma * std::sqrt(variance / count));
  }

  void top_k() {
    if (params_.top_k > 0) candidates_.keep_likeliest(static_cast<size_t>(params_.top_k));
  }

  void temperature() {
    double t = params_.temperature;
    if (chain_.dynamic_range > 0 && candidates_.size() > 1) {
      const double low = std::max(0.0, t - chain_.dynamic_range), high = t + chain_.dynamic_range;
      const double most = std::log(static_cast<double>(candidates_.size()));
      const double share = candidates_.entropy(candidates_.softmax()) / most;
      t = low + (high - low) * std::pow(share, double{chain_.dynamic_exponent});
    }
    if (std::isnan(t)) return;
    if (t <= 0) return candidates_.keep_likeliest(1);
    candidates_.change(true, [t](Candidate& c) { c.logit = bounded(c.logit / t); });
  }

  /// -log p = log sum + largest - l, so that the typical logits are those nearest to one.
  void typical() {
    if (!(chain_.typical_p < 1)) return;
    const CandidateSoftmax p = candidates_.softmax();
    candidates_.keep_mass_near(chain_.typical_p, p.logit_of(1) - candidates_.entropy(p), p);
  }

  void min_p() {
    if (params_.min_p > 0) candidates_.keep_from(candidates_.largest() + std::log(double{params_.min_p}));
  }

  void xtc() {
    if (!(chain_.xtc_probability > 0) || !(chain_.xtc_threshold > 0)) return;
    if (philox_uniform(params_.seed, position_, kXtcStream) >= chain_.xtc_probability) return;
    candidates_.drop_top(candidates_.softmax().logit_of(chain_.xtc_threshold));
  }

  /// The inverse of the cumulated probabilities, most likely first.
  const Candidate& pick(const CandidateSoftmax& p) {
    const double wanted = philox_uniform(params_.seed, position_);
    double reached = 0;
    for (size_t i = 0; i < candidates_.size(); ++i)
      if (const Candidate& c = candidates_.ranked(i); (reached += p(c)) > wanted) return c;
    return candidates_.ranked(candidates_.size() - 1);
  }

  /// k of the Zipf distribution whose cut has a surprise of mu bits on average.
  double zipf_k(double mu) {
    const size_t count = std::min(candidates_.size(), kZipfTokens);
    double products = 0, squares = 0;
    for (size_t i = 0; i + 1 < count; ++i) {
      const double rank = std::log(static_cast<double>(i + 2) / static_cast<double>(i + 1));
      products += rank * (candidates_.ranked(i).logit - candidates_.ranked(i + 1).logit);
      squares += rank * rank;
    }
    const double exponent = products / squares, excess = exponent - 1;
    const double size = static_cast<double>(candidates_.size());
    return std::pow(excess * std::exp2(mu) / (1 - std::pow(size, -excess)), 1 / exponent);
  }

  void cut_by_mirostat(double mu) {
    if (chain_.mirostat == 1) {
      const double k = zipf_k(mu);
      if (!std::isnan(k))
        candidates_.keep_likeliest(static_cast<size_t>(std::clamp(std::round(k), 1.0, 1e9)));
      return;
    }
    const CandidateSoftmax p = candidates_.softmax();
    const double least = p.logit_of(std::exp2(-mu));
    least > p.largest ? candidates_.keep_likeliest(1) : candidates_.keep_from(least);
  }

  int32_t mirostat() {
    const double tau = std::isfinite(chain_.mirostat_tau) ? chain_.mirostat_tau : 5;
    double mu =
        chain_.mirostat_mu != nullptr && std::isfinite(*chain_.mirostat_mu) ? *chain_.mirostat_mu : 2 * tau;
    cut_by_mirostat(mu);
    const CandidateSoftmax p = candidates_.softmax();
    const Candidate& drawn = pick(p);
    if (std::isfinite(chain_.mirostat_eta)) mu -= chain_.mirostat_eta * (-std::log2(p(drawn)) - tau);
    if (chain_.mirostat_mu != nullptr) *chain_.mirostat_mu = mu;
    return drawn.id;
  }

  const SamplingParams& params_;
  const SamplerChain& chain_;
  uint64_t position_;
  Candidates candidates_;
};

}  // namespace

int32_t draw_by_chain(const SamplingParams& params, const SamplerChain& chain, uint64_t position,
                      std::span<const float> logits) {
  return Chain(params, chain, position).draw(logits);
}

}  // namespace orrery::kernels
