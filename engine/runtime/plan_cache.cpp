#include "engine/runtime/plan_cache.h"

#include <algorithm>

namespace orrery::runtime {
namespace {

bool same_bucket(const compile::Bucket& a, const compile::Bucket& b) {
  return a.min_tokens == b.min_tokens && a.max_tokens == b.max_tokens && a.max_outputs == b.max_outputs &&
         a.max_sequences == b.max_sequences;
}

/// Whether what the plan holds of cards is still there, and on the cards that are asked for.
bool same_cards(const compile::Plan& plan, const std::vector<weights::DevicePtr>& cards) {
  return std::ranges::all_of(plan.cards, [&](const compile::CardUse& use) {
    return use.epoch == use.card->epoch() && std::ranges::find(cards, use.card) != cards.end();
  });
}

}  // namespace

std::shared_ptr<const compile::Plan> PlanCache::find(const compile::Options& options) {
  const std::scoped_lock lock(mutex_);
  for (auto it = plans_.begin(); it != plans_.end(); ++it)
    if (same_bucket((*it)->options.bucket, options.bucket) && same_cards(**it, options.cards)) {
      plans_.splice(plans_.begin(), plans_, it);
      return plans_.front();
    }
  return nullptr;
}

Result<std::shared_ptr<const compile::Plan>> PlanCache::get(const graph::GraphVersion& fused,
                                                            weights::WeightStore& weights,
                                                            kernels::ThreadTeam& team,
                                                            const compile::Options& options) {
  if (auto plan = find(options)) return plan;
  ORRERY_ASSIGN(auto plan, compile::compile(fused, weights, team, options));
  const std::scoped_lock lock(mutex_);
  plans_.push_front(plan);
  if (plans_.size() > limit_) plans_.pop_back();
  return plan;
}

size_t PlanCache::size() const {
  const std::scoped_lock lock(mutex_);
  return plans_.size();
}

}  // namespace orrery::runtime
