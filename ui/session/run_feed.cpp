#include "ui/session/run_feed.h"

#include <utility>

namespace orrery::ui {

void RunFeed::add(const api::PrefillEvent& event) {
  const std::lock_guard lock(mutex_);
  batch_.prefill = event;
}

void RunFeed::add(const api::TokenEvent& event) {
  const std::lock_guard lock(mutex_);
  batch_.tokens.push_back(event);
}

void RunFeed::add(size_t index, const api::Classification& result) {
  const std::lock_guard lock(mutex_);
  batch_.classified.push_back({index, result});
}

RunFeed::Batch RunFeed::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(batch_, {});
}

}  // namespace orrery::ui
