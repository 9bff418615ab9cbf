#include "kernels/thread_seat.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

namespace orrery::kernels {

void ThreadSeat::take() {
  thread_ = gettid();
  if (pthread_getcpuclockid(pthread_self(), &clock_) != 0) clock_ = -1;  // a look at it fails
}

bool ThreadSeat::stands_still() {
  timespec time{};
  if (clock_gettime(clock_, &time) != 0) return false;
  const int64_t now = int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
  return std::exchange(looked_, now) == now;
}

void ThreadSeat::call_here() {
  move(sched_getcpu());
  away_.store(true, std::memory_order_release);  // after the move: who goes home earlier would be moved again
}

void ThreadSeat::leave() {
  away_.store(false, std::memory_order_relaxed);
  move(home_);
}

void ThreadSeat::change_with(ThreadSeat& other) {
  std::swap(home_, other.home_);
  other.move(other.home_);
  move(home_);
}

void ThreadSeat::move(int core) const {
  if (core < 0) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<size_t>(core), &set);
  sched_setaffinity(thread_, sizeof(set), &set);
}

}  // namespace orrery::kernels
