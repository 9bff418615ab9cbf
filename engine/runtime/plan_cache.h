// Compiled plans of one graph by bucket; the least recently used are dropped. Any thread may ask, and a plan
// that several ask for at once is compiled once.
#pragma once

#include <condition_variable>
#include <list>
#include <memory>
#include <mutex>

#include "engine/compile/plan.h"

namespace orrery::runtime {

class PlanCache {
 public:
  explicit PlanCache(size_t limit = 48) : limit_(limit) {}

  /// Compiles what is not there, on the calling thread and with its team. What another thread compiles is
  /// waited for, until options.stop asks for an end; if that thread fails, this one tries itself.
  Result<std::shared_ptr<const compile::Plan>> get(const graph::GraphVersion& fused,
                                                   weights::WeightStore& weights, kernels::ThreadTeam& team,
                                                   const compile::Options& options);
  size_t size() const;

 private:
  class Compiling;
  std::shared_ptr<const compile::Plan> find(const compile::Options& options);

  size_t limit_;
  mutable std::mutex mutex_;  // of all below; never held while something is compiled
  std::condition_variable_any compiled_;
  uint64_t ended_ = 0;                                     // compilations so far, well or not
  std::list<const compile::Options*> compiling_;           // what threads compile now
  std::list<std::shared_ptr<const compile::Plan>> plans_;  // most recently used first
};

}  // namespace orrery::runtime
