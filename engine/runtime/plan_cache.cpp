#include "engine/runtime/plan_cache.h"

#include <algorithm>

#include "engine/base/progress.h"

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

/// While it lives, others wait for the plan that its thread compiles.
class PlanCache::Compiling {
 public:
  /// Under the mutex.
  Compiling(PlanCache& cache, const compile::Options& options) : cache_(cache) {
    place_ = cache.compiling_.insert(cache.compiling_.end(), &options);
  }
  ~Compiling() {
    const std::scoped_lock lock(cache_.mutex_);
    cache_.compiling_.erase(place_);
    ++cache_.ended_;
    cache_.compiled_.notify_all();
  }
  Compiling(const Compiling&) = delete;
  Compiling& operator=(const Compiling&) = delete;

 private:
  PlanCache& cache_;
  std::list<const compile::Options*>::iterator place_;
};

/// Under the mutex.
std::shared_ptr<const compile::Plan> PlanCache::find(const compile::Options& options) {
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
  std::unique_lock lock(mutex_);
  const auto is_this = [&](const compile::Options* other) {
    return same_bucket(other->bucket, options.bucket) && other->cards == options.cards;
  };
  while (true) {
    if (auto plan = find(options)) return plan;
    if (std::ranges::none_of(compiling_, is_this)) break;
    if (!compiled_.wait(lock, options.stop, [&, before = ended_] { return ended_ != before; }))
      return cancelled_error();
  }
  const Compiling compiling(*this, options);
  lock.unlock();
  ORRERY_ASSIGN(auto plan, compile::compile(fused, weights, team, options));
  const std::scoped_lock again(mutex_);
  plans_.push_front(plan);
  if (plans_.size() > limit_) plans_.pop_back();
  return plan;
}

size_t PlanCache::size() const {
  const std::scoped_lock lock(mutex_);
  return plans_.size();
}

}  // namespace orrery::runtime
