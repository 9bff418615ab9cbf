// The samplers of a chain once more, as plainly as their definitions say it: probabilities of the whole
// vocabulary, nothing sorted in place, nothing left out early. A token that is out has the logit -infinity.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "kernels/philox.h"
#include "kernels/sampler_chain.h"

namespace orrery::kernels::testing {

class PlainChain {
 public:
  PlainChain(const SamplingParams& params, const SamplerChain& chain) : params_(params), chain_(chain) {}

  /// The probability of each token at the draw; the rest of `chain` must be off: mirostat, bias and mask.
  std::vector<double> probabilities(const std::vector<float>& logits, uint64_t position) {
    logits_.assign(logits.begin(), logits.end());
    for (int32_t i = 0; i < chain_.order_count; ++i) apply(chain_.order[i], position);
    return softmax();
  }

  /// The inverse of the cumulated probabilities at the draw's random number.
  int32_t draw(const std::vector<float>& logits, uint64_t position) {
    const std::vector<double> p = probabilities(logits, position);
    const double wanted = philox_uniform(params_.seed, position);
    double reached = 0;
    const std::vector<size_t> order = ranked(logits_, true);
    for (const size_t id : order)
      if ((reached += p[id]) > wanted) return static_cast<int32_t>(id);
    return -1;
  }

 private:
  static constexpr double kOut = -std::numeric_limits<double>::infinity();

  bool is_in(size_t id) const { return logits_[id] > kOut; }

  std::vector<double> softmax() const {
    const double largest = *std::max_element(logits_.begin(), logits_.end());
    std::vector<double> p;
    for (const double logit : logits_) p.push_back(std::exp(logit - largest));
    const double sum = std::accumulate(p.begin(), p.end(), 0.0);
    for (double& share : p) share /= sum;
    return p;
  }

  double entropy() const {
    double sum = 0;
    for (const double share : softmax())
      if (share > 0) sum -= share * std::log(share);
    return sum;
  }

  /// Ids from the largest key (or the smallest) on; equal ones by likelihood, then id.
  std::vector<size_t> ranked(const std::vector<double>& keys, bool largest_first) const {
    std::vector<size_t> ids(logits_.size());
    std::iota(ids.begin(), ids.end(), size_t{0});
    std::stable_sort(ids.begin(), ids.end(), [&](size_t a, size_t b) { return logits_[a] > logits_[b]; });
    std::stable_sort(ids.begin(), ids.end(), [&](size_t a, size_t b) {
      return largest_first ? keys[a] > keys[b] : keys[a] < keys[b];
    });
    return ids;
  }

  /// Keeps tokens in the given order until their mass reaches `mass`.
  void keep_mass(const std::vector<size_t>& order, double mass) {
    const std::vector<double> p = softmax();
    double reached = 0;
    for (const size_t id : order) {
      const bool enough = reached >= mass;
      reached += p[id];
      if (enough) logits_[id] = kOut;
    }
  }

  void apply(Sampler sampler, uint64_t position) {
    switch (sampler) {
      case Sampler::penalties:
        return penalties();
      case Sampler::dry:
        return dry();
      case Sampler::top_n_sigma:
        return top_n_sigma();
      case Sampler::top_k: {
        const std::vector<size_t> order = ranked(logits_, true);
        for (size_t i = static_cast<size_t>(params_.top_k); params_.top_k > 0 && i < order.size(); ++i)
          logits_[order[i]] = kOut;
        return;
      }
      case Sampler::temperature:
        return temperature();
      case Sampler::typical:
        return typical();
      case Sampler::top_p:
        if (params_.top_p < 1) keep_mass(ranked(logits_, true), params_.top_p);
        return;
      case Sampler::min_p: {
        const std::vector<double> p = softmax();
        const double largest = *std::max_element(p.begin(), p.end());
        for (size_t id = 0; id < p.size(); ++id)
          if (p[id] < params_.min_p * largest) logits_[id] = kOut;
        return;
      }
      case Sampler::xtc:
        return xtc(position);
    }
  }

  void penalties() {
    const int32_t begin =
        chain_.penalty_range < 0 ? 0 : std::max(0, chain_.history_count - chain_.penalty_range);
    for (size_t id = 0; id < logits_.size(); ++id) {
      const auto seen =
          std::count(chain_.history + begin, chain_.history + chain_.history_count, static_cast<int32_t>(id));
      if (seen == 0) continue;
      double& logit = logits_[id];
      logit = logit > 0 ? logit / params_.repeat_penalty : logit * params_.repeat_penalty;
      logit -= static_cast<double>(seen) * params_.frequency_penalty + params_.presence_penalty;
    }
  }

  /// For each token and each of its places: how many tokens before it are those that the text ends in.
  void dry() {
    if (chain_.dry_multiplier <= 0) return;
    const int32_t count = chain_.history_count;
    const int32_t first = chain_.dry_range < 0 ? 0 : std::max(0, count - chain_.dry_range);
    std::vector<double> penalty(logits_.size(), 0.0);
    for (int32_t place = first + 1; place < count; ++place) {
      int32_t length = 0;
      while (place - 1 - length >= first &&
             chain_.history[place - 1 - length] == chain_.history[count - 1 - length])
        ++length;
      if (length < chain_.dry_allowed) continue;
      double& of_token = penalty[static_cast<size_t>(chain_.history[place])];
      of_token =
          std::max(of_token, chain_.dry_multiplier * std::pow(chain_.dry_base, length - chain_.dry_allowed));
    }
    for (size_t id = 0; id < logits_.size(); ++id) logits_[id] -= penalty[id];
  }

  void top_n_sigma() {
    if (chain_.top_n_sigma <= 0) return;
    std::vector<double> in;
    for (const double logit : logits_)
      if (logit > kOut) in.push_back(logit);
    const auto n = static_cast<double>(in.size());
    const double mean = std::accumulate(in.begin(), in.end(), 0.0) / n;
    double variance = 0;
    for (const double logit : in) variance += (logit - mean) * (logit - mean) / n;
    const double least = *std::max_element(in.begin(), in.end()) - chain_.top_n_sigma * std::sqrt(variance);
    for (double& logit : logits_)
      if (logit < least) logit = kOut;
  }

  void temperature() {
    double t = params_.temperature;
    const auto in =
        static_cast<double>(std::count_if(logits_.begin(), logits_.end(), [](double l) { return l > kOut; }));
    if (chain_.dynamic_range > 0 && in > 1) {
      const double low = std::max(0.0, t - chain_.dynamic_range), high = t + chain_.dynamic_range;
      t = low + (high - low) * std::pow(entropy() / std::log(in), chain_.dynamic_exponent);
    }
    for (double& logit : logits_) logit /= t;
  }

  void typical() {
    if (chain_.typical_p >= 1) return;
    const std::vector<double> p = softmax();
    const double average = entropy();
    std::vector<double> distance;
    for (const double share : p)
      distance.push_back(share > 0 ? std::abs(-std::log(share) - average)
                                   : std::numeric_limits<double>::infinity());
    keep_mass(ranked(distance, false), chain_.typical_p);
  }

  void xtc(uint64_t position) {
    if (philox_uniform(params_.seed, position, 1) >= chain_.xtc_probability) return;
    const std::vector<double> p = softmax();
    std::vector<size_t> over;
    for (const size_t id : ranked(p, true))
      if (p[id] >= chain_.xtc_threshold) over.push_back(id);
    for (size_t i = 0; i + 1 < over.size(); ++i) logits_[over[i]] = kOut;
  }

  const SamplingParams& params_;
  const SamplerChain& chain_;
  std::vector<double> logits_;
};

}  // namespace orrery::kernels::testing
