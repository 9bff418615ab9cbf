// A thread of a team as the others see it: whether it gets time, and which core it keeps to.
#pragma once

#include <sys/types.h>
#include <time.h>

#include <atomic>
#include <cstdint>
#include <utility>

namespace orrery::kernels {

/// Cores are taken by sched_setaffinity; where the system refuses it the thread stays where it is.
class alignas(64) ThreadSeat {
 public:
  /// Called by the thread itself, before another one looks at it.
  void take();
  /// The core that go_home() leads to; the thread that has the seat, or who knows that it does not look.
  void set_home(int core) { home_ = core; }

  /// Whether the thread has had no time at all since the last question; one asks at a time. A thread that
  /// waits for its turn on a core has none, nor one that sleeps.
  bool stands_still();

  /// Moves the thread to the calling thread's core, where it runs once that sleeps. It goes home by itself.
  void call_here();
  /// Called by the thread itself, often.
  void go_home() {
    if (away_.load(std::memory_order_acquire)) leave();
  }
  bool away() const { return away_.load(std::memory_order_relaxed); }

  /// The calling thread, which has this seat, and the other one change cores for good.
  void change_with(ThreadSeat& other);

 private:
  void move(int core) const;
  void leave();

  std::atomic<bool> away_{false};
  pid_t thread_ = 0;
  clockid_t clock_{};    // of the time it gets
  int64_t looked_ = -1;  // nanoseconds of that at the last look
  int home_ = -1;
};

}  // namespace orrery::kernels
