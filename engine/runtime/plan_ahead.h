// Compiles on a thread of its own the plans that the next steps of many replies may need, so that no step
// waits for one when a reply begins or ends.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

#include "engine/runtime/model.h"

namespace orrery::runtime {

class PlanAhead {
 public:
  PlanAhead() = default;
  PlanAhead(const PlanAhead&) = delete;
  PlanAhead& operator=(const PlanAhead&) = delete;

  /// A step of the version brought so many replies: the plans for the next fewer and the next more are
  /// compiled when they are in other buckets, each once a version. A failure is dropped: the step that needs
  /// the plan tells it. Returns at once. Scheduler's thread.
  void expect(const std::shared_ptr<Model>& model, const std::shared_ptr<const Version>& version,
              int64_t replies);

 private:
  /// Owns nothing, so that a model or version can end.
  struct Wanted {
    std::weak_ptr<Model> model;
    std::weak_ptr<const Version> version;
    compile::Bucket bucket;
  };
  void loop(const std::stop_token& stop);
  static void compile(const Wanted& wanted, const std::stop_token& stop);

  std::weak_ptr<const Version> last_;  // of the plans asked for; scheduler's thread
  std::set<int64_t> asked_;            // by the tokens of the bucket; scheduler's thread

  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::deque<Wanted> wanted_;
  std::jthread thread_;  // begins with the first that is wanted; last: ends before what it uses
};

}  // namespace orrery::runtime
