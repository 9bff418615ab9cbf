// Work that other threads hand to one: it takes the pieces in the order in which they came.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>

namespace orrery::generate {

class Inbox {
 public:
  using Work = std::function<void()>;

  void post(Work work) {
    const std::scoped_lock lock(mutex_);
    waiting_.push_back(std::move(work));
    posted_.notify_one();
  }
  /// Does what comes until `done` says so.
  template <class Done>
  void work_until(Done&& done) {
    while (!done()) next()();
  }

 private:
  Work next() {
    std::unique_lock lock(mutex_);
    posted_.wait(lock, [this] { return !waiting_.empty(); });
    Work work = std::move(waiting_.front());
    waiting_.pop_front();
    return work;
  }

  std::mutex mutex_;
  std::condition_variable posted_;
  std::deque<Work> waiting_;
};

}  // namespace orrery::generate
