// Which jobs of a model take part in steps where the KV cache is too small for all.
//
// A job that is admitted holds the pages of its whole text. Others wait in order of arrival, and none passes
// another. When a text that is being written needs a page and there is none, texts that nobody works on give
// way first, then the youngest admitted job: it waits again and its text is read again later, which changes
// no token of its reply. So the oldest job always goes on, every job becomes the oldest in time, and a text
// that fits alone is never refused.
#pragma once

#include <memory>
#include <vector>

#include "engine/runtime/job.h"

namespace orrery::runtime {

class Admission {
 public:
  /// Of jobs of one model, any order. Under its kv_mutex, on the scheduler's thread.
  Admission(Model& model, const std::vector<std::shared_ptr<Job>>& jobs);

  /// Before a step is packed: who is admitted gets the pages that its text needs now, then who waits is
  /// admitted while there is room. What can never go on fails.
  void run();

  static bool admitted(Job& job) { return !job.sequence() || job.sequence()->job == &job; }

 private:
  void go_on();
  void let_in();
  bool fits(Job& job) const;
  Result<void> take_pages(Job& job);
  bool take_from_idle();
  void give_way();

  Model& model_;
  std::vector<Job*> admitted_, waiting_;  // oldest first
};

}  // namespace orrery::runtime
