#include "kernels/sampler_dry.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace orrery::kernels {
namespace {

using Tokens = std::span<const int32_t>;  // newest first
using Breaker = std::vector<int32_t>;     // oldest first

struct ByHead {
  bool operator()(const Breaker& breaker, int32_t head) const { return breaker.front() < head; }
  bool operator()(int32_t head, const Breaker& breaker) const { return head < breaker.front(); }
};

auto breakers_from(const SamplerChain& chain, int32_t head) {
  const Breaker* begin = chain.dry_breakers;
  return std::equal_range(begin, begin + chain.dry_breaker_count, head, ByHead{});
}

/// Whether all of the breaker stands in the text, its first token at `place`.
bool stands_at(const Breaker& breaker, Tokens newest, size_t place) {
  if (breaker.size() > place + 1) return false;
  for (size_t i = 1; i < breaker.size(); ++i)
    if (newest[place - i] != breaker[i]) return false;
  return true;
}

/// How many tokens there are behind the last breaker; all where there is none.
size_t tokens_behind_breaker(const SamplerChain& chain, Tokens newest) {
  for (size_t place = 0; place < newest.size(); ++place) {
    size_t longest = 0;
    const auto [begin, end] = breakers_from(chain, newest[place]);
    for (const Breaker* breaker = begin; breaker != end; ++breaker)
      if (stands_at(*breaker, newest, place)) longest = std::max(longest, breaker->size());
    if (longest > 0) return place + 1 - longest;
  }
  return newest.size();
}

bool is_breaker(const SamplerChain& chain, int32_t token) {
  const auto [begin, end] = breakers_from(chain, token);
  return std::any_of(begin, end, [](const Breaker& breaker) { return breaker.size() == 1; });
}

/// How many tokens from each place on, going back, equal those from the end on: the Z function, so that a
/// text of one token takes no square time.
std::vector<size_t> repetitions(Tokens newest) {
  std::vector<size_t> lengths(newest.size());
  for (size_t i = 1, left = 0, right = 0; i < newest.size(); ++i) {
    size_t length = i < right ? std::min(right - i, lengths[i - left]) : 0;
    while (i + length < newest.size() && newest[length] == newest[i + length]) ++length;
    lengths[i] = length;
    if (i + length > right) left = i, right = i + length;
  }
  return lengths;
}

}  // namespace

std::map<int32_t, double> dry_penalties(const SamplerChain& chain) {
  std::map<int32_t, double> penalties;
  if (!(chain.dry_multiplier > 0) || !(chain.dry_base >= 1)) return penalties;
  const auto history = last_tokens(chain, chain.dry_range);
  const std::vector<int32_t> newest(history.rbegin(), history.rend());
  const size_t reach = tokens_behind_breaker(chain, newest);
  const auto allowed = static_cast<size_t>(std::max(chain.dry_allowed, 1));
  const std::vector<size_t> lengths = repetitions(newest);
  for (size_t i = 1; i < newest.size(); ++i) {
    const size_t length = std::min(lengths[i], reach);
    const int32_t next = newest[i - 1];  // went on from there
    if (length < allowed || is_breaker(chain, next)) continue;
    double& penalty = penalties[next];
    penalty = std::max(penalty, chain.dry_multiplier *
                                    std::pow(double{chain.dry_base}, static_cast<double>(length - allowed)));
  }
  return penalties;
}

}  // namespace orrery::kernels
