// One thread that runs jobs in the order they were given. Its destructor asks the running job to stop, joins,
// and drops those that wait; a job therefore never outlives the worker.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>

namespace orrery {

class Worker {
 public:
  /// Must not throw: the caller turns exceptions into values inside the job.
  using Job = std::function<void(std::stop_token)>;

  Worker();
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// The returned source stops this job alone, also while it waits.
  std::stop_source post(Job job);
  /// No job waits or runs.
  bool idle() const;

 private:
  struct Entry {
    Job job;
    std::stop_source stop;
  };
  void loop();

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Entry> queue_;
  std::stop_source running_{std::nostopstate};
  bool busy_ = false;
  bool closing_ = false;
  std::thread thread_;
};

}  // namespace orrery
