// Dispatch: the caller writes the task, then raises `epoch`; workers that see it run the task and count
// `pending` down. Every wait spins for kSpin at most (yielding its core after kAlone), then sleeps on a
// futex. Ordering: a waker changes the value, then reads `sleepers`; a sleeper raises `sleepers`, then the
// futex compares the value; all seq_cst, so that a waker cannot miss a sleeper. Task and context are
// published by epoch, results of the workers by pending. Not std::atomic::wait: it counts its sleepers in a
// table of the program, and a device module that runs the program's team has a table of its own.
#include "kernels/thread_team.h"

#include <immintrin.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <climits>
#include <system_error>
#include <thread>
#include <vector>

namespace orrery::kernels {
namespace {

constexpr std::chrono::microseconds kSpin{200};
/// After this the thread waited for may be queued behind this one on the same core: from here on the core is
/// offered at each turn. Staying runnable, rather than asleep, is what makes the system move one of the two
/// to a free core.
constexpr std::chrono::microseconds kAlone{10};
constexpr int kPausesPerClock = 32;  // a look at the clock costs as much as a pause or two

/// A number that threads wait on; of one team, so that all who share it see the sleepers.
struct alignas(64) Waitable {
  std::atomic<int> value{0};
  std::atomic<int> sleepers{0};

  void wake() {
    if (sleepers.load(std::memory_order_seq_cst) > 0) futex(FUTEX_WAKE_PRIVATE, INT_MAX);
  }
  void sleep_while(int old) {
    sleepers.fetch_add(1, std::memory_order_seq_cst);
    while (value.load(std::memory_order_seq_cst) == old) futex(FUTEX_WAIT_PRIVATE, old);
    sleepers.fetch_sub(1, std::memory_order_relaxed);
  }

 private:
  void futex(int operation, int number) {
    static_assert(sizeof(value) == sizeof(int));
    syscall(SYS_futex, reinterpret_cast<int*>(&value), operation, number, nullptr, nullptr, 0);
  }
};

/// Returns when value != old, having acquired what was published with it.
void wait_while(Waitable& on, int old) {
  const std::atomic<int>& value = on.value;
  for (int i = 0; i < kPausesPerClock; ++i) {
    if (value.load(std::memory_order_acquire) != old) return;
    _mm_pause();
  }
  const auto start = std::chrono::steady_clock::now();
  for (auto now = start; now < start + kSpin; now = std::chrono::steady_clock::now()) {
    for (int i = 0; i < kPausesPerClock; ++i) {
      if (value.load(std::memory_order_acquire) != old) return;
      _mm_pause();
    }
    if (now > start + kAlone) sched_yield();
  }
  on.sleep_while(old);
}

}  // namespace

struct ThreadTeam::Shared {
  Waitable epoch;
  Erased task = nullptr;
  void* context = nullptr;
  bool stop = false;
  Waitable pending;
  alignas(64) std::atomic<int> arrived{0};
  Waitable generation;
  std::vector<std::thread> workers;

  void work(int thread) {
    int seen = 0;
    while (true) {
      wait_while(epoch, seen);
      ++seen;  // run() joins before it raises the epoch again, so no epoch is skipped
      if (stop) return;
      task(context, thread);
      if (pending.value.fetch_sub(1, std::memory_order_seq_cst) == 1) pending.wake();
    }
  }

  void raise_epoch() {
    epoch.value.fetch_add(1, std::memory_order_seq_cst);
    epoch.wake();
  }
};

ThreadTeam::ThreadTeam(int threads) : size_(1), shared_(std::make_unique<Shared>()) {
  if (threads <= 1) return;
  shared_->workers.reserve(static_cast<size_t>(threads - 1));
  try {
    for (int thread = 1; thread < threads; ++thread) {
      shared_->workers.emplace_back([shared = shared_.get(), thread] { shared->work(thread); });
      ++size_;
    }
  } catch (const std::system_error&) {
    // The system refuses more threads: the team is as large as it got.
  }
}

ThreadTeam::~ThreadTeam() {
  shared_->stop = true;
  shared_->raise_epoch();
  for (std::thread& worker : shared_->workers) worker.join();
}

void ThreadTeam::pin() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0 || CPU_COUNT(&allowed) != size_) return;
  int thread = 0;
  for (size_t core = 0; core < CPU_SETSIZE && thread < size_; ++core) {
    if (!CPU_ISSET(core, &allowed)) continue;
    cpu_set_t own;
    CPU_ZERO(&own);
    CPU_SET(core, &own);
    const pthread_t handle =
        thread == 0 ? pthread_self() : shared_->workers[static_cast<size_t>(thread - 1)].native_handle();
    pthread_setaffinity_np(handle, sizeof(own), &own);  // refused: the thread stays free
    ++thread;
  }
}

void ThreadTeam::run_erased(Erased task, void* context) {
  if (size_ > 1) {
    shared_->task = task;
    shared_->context = context;
    shared_->pending.value.store(size_ - 1, std::memory_order_relaxed);
    shared_->raise_epoch();
  }
  task(context, 0);
  if (size_ == 1) return;
  for (int left = shared_->pending.value.load(std::memory_order_acquire); left != 0;
       left = shared_->pending.value.load(std::memory_order_acquire)) {
    wait_while(shared_->pending, left);
  }
}

void ThreadTeam::barrier() {
  if (size_ == 1) return;
  const int generation = shared_->generation.value.load(std::memory_order_acquire);
  if (shared_->arrived.fetch_add(1, std::memory_order_acq_rel) == size_ - 1) {
    shared_->arrived.store(0, std::memory_order_relaxed);
    shared_->generation.value.fetch_add(1, std::memory_order_seq_cst);
    shared_->generation.wake();
  } else {
    wait_while(shared_->generation, generation);
  }
}

ThreadTeam::Range ThreadTeam::share(int64_t count, int thread, int64_t grain) const {
  const int64_t units = (count + grain - 1) / grain;
  const auto edge = [&](int64_t t) {
    const int64_t begin = units * t / size_ * grain;
    return begin < count ? begin : count;
  };
  return {edge(thread), edge(thread + 1)};
}

int available_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) != 0) {
    const unsigned count = std::thread::hardware_concurrency();
    return count == 0 ? 1 : static_cast<int>(count);
  }
  const int count = CPU_COUNT(&set);
  return count < 1 ? 1 : count;
}

}  // namespace orrery::kernels
