#include "engine/base/worker.h"

namespace orrery {

Worker::Worker() : thread_([this] { loop(); }) {}

Worker::~Worker() {
  std::deque<Entry> dropped;
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    dropped.swap(queue_);
    running_.request_stop();
  }
  wake_.notify_all();
  thread_.join();
}

std::stop_source Worker::post(Job job) {
  std::stop_source stop;
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back({std::move(job), stop});
  }
  wake_.notify_one();
  return stop;
}

bool Worker::idle() const {
  const std::lock_guard lock(mutex_);
  return queue_.empty() && !busy_;
}

void Worker::loop() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return closing_ || !queue_.empty(); });
    if (closing_) return;
    Entry entry = std::move(queue_.front());
    queue_.pop_front();
    running_ = entry.stop;
    busy_ = true;
    lock.unlock();
    entry.job(entry.stop.get_token());
    entry.job = nullptr;  // what the job holds is released on this thread, not while the lock is held
    lock.lock();
    busy_ = false;
  }
}

}  // namespace orrery
