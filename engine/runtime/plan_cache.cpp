#include "engine/runtime/plan_cache.h"

namespace orrery::runtime {
namespace {

bool same_bucket(const compile::Bucket& a, const compile::Bucket& b) {
  return a.min_tokens == b.min_tokens && a.max_tokens == b.max_tokens && a.max_outputs == b.max_outputs &&
         a.max_sequences == b.max_sequences;
}

/// Whether what the plan holds of a card is still there, and on the card that is asked for.
bool same_card(const compile::Plan& plan, const weights::DevicePtr& card) {
  if (!plan.options.device) return true;
  return plan.options.device == card && plan.epoch == card->epoch();
}

}  // namespace

std::shared_ptr<const compile::Plan> PlanCache::find(const compile::Options& options) {
  const std::scoped_lock lock(mutex_);
  for (auto it = plans_.begin(); it != plans_.end(); ++it)
    if (same_bucket((*it)->options.bucket, options.bucket) && same_card(**it, options.device)) {
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
