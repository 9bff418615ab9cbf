// Compiled plans of one graph by bucket; the least recently used are dropped. Any thread may ask.
#pragma once

#include <list>
#include <memory>
#include <mutex>

#include "engine/compile/plan.h"

namespace orrery::runtime {

class PlanCache {
 public:
  explicit PlanCache(size_t limit = 48) : limit_(limit) {}

  /// Compiles what is not there, on the calling thread and with its team.
  Result<std::shared_ptr<const compile::Plan>> get(const graph::GraphVersion& fused,
                                                   weights::WeightStore& weights, kernels::ThreadTeam& team,
                                                   const compile::Options& options);
  size_t size() const;

 private:
  std::shared_ptr<const compile::Plan> find(const compile::Options& options);

  size_t limit_;
  mutable std::mutex mutex_;
  std::list<std::shared_ptr<const compile::Plan>> plans_;  // most recently used first
};

}  // namespace orrery::runtime
