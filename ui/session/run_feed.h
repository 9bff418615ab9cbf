// Values on their way from a running job to the window: the job's thread adds, the window takes all of them
// at ~30 Hz.
#pragma once

#include <mutex>
#include <optional>
#include <vector>

#include "engine/api/types.h"

namespace orrery::ui {

struct IndexedClassification {
  size_t index = 0;
  api::Classification result;
};

class RunFeed {
 public:
  struct Batch {
    std::optional<api::PrefillEvent> prefill;  // the latest only: it counts up
    std::vector<api::TokenEvent> tokens;
    std::vector<IndexedClassification> classified;
    bool empty() const { return !prefill && tokens.empty() && classified.empty(); }
  };

  void add(const api::PrefillEvent& event);
  void add(const api::TokenEvent& event);
  void add(size_t index, const api::Classification& result);
  Batch take();

 private:
  std::mutex mutex_;
  Batch batch_;
};

}  // namespace orrery::ui
