// Ctrl+C and termination as a stop token: a thread of its own receives the signals, so nothing runs in a
// handler.
#pragma once

#include <mutex>
#include <stop_token>
#include <thread>

namespace orrery::cli {

class Interrupts {
 public:
  /// Blocks SIGINT and SIGTERM in the calling thread; make it before any other thread starts.
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  std::stop_token token() const;
  /// After a stop that only meant what was running: later work gets a fresh token.
  void rearm();
  /// Waits until `descriptor` can be read; false when interrupted instead.
  bool wait_readable(int descriptor) const;

 private:
  void watch();

  mutable std::mutex mutex_;
  std::stop_source source_;
  int signals_ = -1, interrupted_ = -1, finish_ = -1;  // descriptors
  std::thread thread_;
};

}  // namespace orrery::cli
