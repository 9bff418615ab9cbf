#include "engine/runtime/capture_queue.h"

#include <pthread.h>

#include <utility>

namespace orrery::runtime {

/// What fails here is not told: the step goes on running directly, and if its device is lost it says so
/// itself.
LaidOutStep::Graphs CaptureQueue::capture(Wanted wanted) {
  wanted.step.plan = wanted.plan.lock();
  if (!wanted.step.plan) return {};
  try {
    return wanted.step.capture(wanted.key.measured);
  } catch (const std::exception&) {
    return {};
  }
}

void CaptureQueue::add(const LaidOutStep& step, bool measured) {
  const StepKey key = step.key(measured);
  if (!asked_.insert(key).second) return;
  const std::scoped_lock lock(mutex_);
  Wanted& wanted = wanted_.emplace_back(key, step, step.plan);
  wanted.step.plan = nullptr;
  wanted.states.assign(step.here.states.begin(), step.here.states.end());
  wanted.step.here.states = wanted.states;
  for (auto& [id, card] : wanted.step.cards) card.context.states = wanted.states;
  changed_.notify_all();
  if (thread_.joinable()) return;
  thread_ = std::jthread([this](const std::stop_token& stop) { loop(stop); });
  pthread_setname_np(thread_.native_handle(), "orrery-capture");
}

std::vector<CaptureQueue::Captured> CaptureQueue::take() {
  if (!any_done_.load(std::memory_order_acquire)) return {};
  const std::scoped_lock lock(mutex_);
  any_done_ = false;
  for (const Captured& captured : done_) asked_.erase(captured.key);
  return std::exchange(done_, {});
}

void CaptureQueue::cancel() {
  std::unique_lock lock(mutex_);
  wanted_.clear();
  changed_.wait(lock, [this] { return !busy_; });
  done_.clear();
  any_done_ = false;
  asked_.clear();
}

void CaptureQueue::finish() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return wanted_.empty() && !busy_; });
}

void CaptureQueue::loop(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [this] { return !wanted_.empty(); })) {
    Wanted next = std::move(wanted_.front());
    wanted_.pop_front();
    busy_ = true;
    lock.unlock();
    const StepKey key = next.key;
    LaidOutStep::Graphs graphs = capture(std::move(next));  // the plan may end there: not under the mutex
    lock.lock();
    busy_ = false;
    done_.push_back({key, std::move(graphs)});
    any_done_.store(true, std::memory_order_release);
    changed_.notify_all();
  }
}

}  // namespace orrery::runtime
