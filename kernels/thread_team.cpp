// Dispatch: the caller writes the task, then a new epoch and the number of its units into `claims`, one word.
// Threads claim units by taking them off that word, so that a claim of a task that is over fails, and only
// who has claimed reads the task. `left` counts the units that are not done; the caller leaves when it holds
// its own only.
// Waits spin, then sleep on a futex. A waker changes the value, then reads whether somebody sleeps; a sleeper
// says that it sleeps, then the futex compares the value; all seq_cst, so that none is missed. Not
// std::atomic::wait: it counts its sleepers in a table of the program, and a device module that runs the
// program's team has a table of its own. Nobody yields: a thread that yields gives a whole time slice away.
#include "kernels/thread_team.h"

#include <immintrin.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <climits>
#include <system_error>
#include <thread>
#include <vector>

#include "kernels/thread_seat.h"

namespace orrery::kernels {
namespace {

using std::chrono::microseconds;

constexpr microseconds kIdleSpin{200};  // of a worker without work
constexpr microseconds kLook{20};       // who got no time for so long is displaced
constexpr int kLooks = 10;              // of the caller, before it sleeps anyhow
constexpr microseconds kNap{1000};      // until it looks again
constexpr int kPausesPerClock = 32;     // a look at the clock costs as much as a pause or two

/// Whether `reached` came true within `time`.
template <class Reached>
bool spin(microseconds time, Reached&& reached) {
  const auto look = [&] {
    for (int i = 0; i < kPausesPerClock; ++i) {
      if (reached()) return true;
      _mm_pause();
    }
    return false;
  };
  if (look()) return true;
  const auto end = std::chrono::steady_clock::now() + time;
  do {
    if (look()) return true;
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

void sleep_while(void* at, int value, microseconds time = {}) {
  const timespec limit{0, std::chrono::nanoseconds(time).count()};
  syscall(SYS_futex, at, FUTEX_WAIT_PRIVATE, value, time.count() > 0 ? &limit : nullptr, nullptr, 0);
}

void wake(void* at) { syscall(SYS_futex, at, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0); }

/// Nobody has claimed the units in the lower half; the epoch is in the upper half.
struct Claims {
  std::atomic<uint64_t> word{0};

  uint32_t epoch() const { return static_cast<uint32_t>(word.load(std::memory_order_acquire) >> 32); }
  void* epoch_address() { return reinterpret_cast<uint32_t*>(&word) + 1; }
  void next(uint32_t units) { word.store(uint64_t{epoch() + 1} << 32 | units, std::memory_order_seq_cst); }
};

}  // namespace

struct ThreadTeam::Shared {
  struct alignas(64) Member {
    ThreadSeat seat;
    std::atomic<bool> busy{false};  // may have claimed units that `left` still counts
  };

  alignas(64) Claims claims;
  std::atomic<bool> idle{false};  // a worker sleeps
  alignas(64) std::atomic<int> left{0};
  std::atomic<bool> joining{false};  // the caller sleeps
  // Written by the caller while nothing is claimed.
  alignas(64) Erased task = nullptr;
  void* context = nullptr;
  int64_t count = 0, grain = 0;
  uint32_t units = 0;
  std::atomic<bool> stop{false};
  std::atomic<bool> pinned{false};
  alignas(64) std::atomic<bool> watched{false};  // a worker looks after the caller
  std::vector<Member> members;
  std::vector<std::thread> workers;

  explicit Shared(int threads) : members(static_cast<size_t>(std::max(threads, 1))) {}

  /// Units of the next chunk: a thread's equal share of what is left. Half of it while that is many: who
  /// takes an equal share of all at once may be late with it, on a core that is slower by a few percent, when
  /// the others have nothing left to take over. Of few units a claim more would cost more than that.
  uint32_t next_chunk(uint32_t unclaimed) const {
    constexpr uint32_t kMany = 32;  // for each thread
    const auto threads = static_cast<uint32_t>(members.size());
    return std::max<uint32_t>(1, unclaimed / (unclaimed > kMany * threads ? 2 * threads : threads));
  }

  /// Claims and does units until none is left; how many.
  int work_off(int thread) {
    int done = 0;
    uint64_t word = claims.word.load(std::memory_order_acquire);
    while (const auto unclaimed = static_cast<uint32_t>(word)) {
      const uint32_t take = next_chunk(unclaimed);
      if (!claims.word.compare_exchange_weak(word, word - take, std::memory_order_acquire)) continue;
      const int64_t begin = int64_t{units - unclaimed} * grain;
      task(context, {begin, std::min(begin + int64_t{take} * grain, count)}, thread);
      done += static_cast<int>(take);
      word = claims.word.load(std::memory_order_acquire);
    }
    return done;
  }

  void work(int thread) {
    Member& self = members[static_cast<size_t>(thread)];
    self.seat.take();
    uint32_t seen = 0;
    while (true) {
      await_next(seen, self.seat);
      seen = claims.epoch();
      if (stop.load(std::memory_order_relaxed)) return;
      self.busy.store(true, std::memory_order_release);
      const int done = work_off(thread);
      self.busy.store(false, std::memory_order_relaxed);
      if (done > 0 && left.fetch_sub(done, std::memory_order_seq_cst) == done &&
          joining.load(std::memory_order_seq_cst))
        wake(&left);
    }
  }

  /// Returns when the epoch is another one.
  void await_next(uint32_t seen, ThreadSeat& seat) {
    const auto next = [&] { return claims.epoch() != seen; };
    seat.go_home();
    if (spin(kLook, next) || watch(next, seat) || spin(kIdleSpin, next)) return;
    while (true) {
      seat.go_home();
      idle.store(true, std::memory_order_seq_cst);
      if (next()) return;
      sleep_while(claims.epoch_address(), static_cast<int>(seen));
    }
  }

  /// Waits as long as the caller runs, kIdleSpin at most. One that stands still gets this thread's core; if
  /// it sleeps, it will find the core there. Whether there is something to do.
  template <class Next>
  bool watch(Next&& next, ThreadSeat& seat) {
    if (!pinned.load(std::memory_order_acquire) || watched.exchange(true, std::memory_order_acquire))
      return false;
    ThreadSeat& caller = members[0].seat;
    caller.stands_still();
    bool come = false, still = false;
    for (auto waited = kLook; waited < kIdleSpin && !come && !still; waited += kLook) {
      seat.go_home();
      come = spin(kLook, next);
      still = !come && !joining.load(std::memory_order_relaxed) && caller.stands_still();
    }
    if (still) seat.change_with(caller);
    watched.store(false, std::memory_order_release);
    return come;
  }

  /// Calls workers that were displaced in the middle of a chunk to this core. Whether there was one.
  bool call_displaced() {
    bool called = false;
    if (!pinned.load(std::memory_order_relaxed)) return false;
    for (Member& member : members) {
      if (!member.busy.load(std::memory_order_acquire) || !member.seat.stands_still() || member.seat.away())
        continue;
      member.seat.call_here();
      called = true;
    }
    return called;
  }

  /// Returns when the units that others claimed are done; `own` are the caller's.
  void join(int own) {
    const auto joined = [&] { return left.load(std::memory_order_acquire) == own; };
    for (int i = 0; i < kLooks; ++i) {
      if (spin(kLook, joined)) return;
      if (call_displaced()) break;
    }
    joining.store(true, std::memory_order_seq_cst);
    for (int now = left.fetch_sub(own, std::memory_order_seq_cst) - own; now != 0;
         now = left.load(std::memory_order_acquire)) {
      sleep_while(&left, now, kNap);
      call_displaced();
    }
    joining.store(false, std::memory_order_relaxed);
  }

  void publish(int64_t new_units) {
    claims.next(static_cast<uint32_t>(new_units));
    if (idle.load(std::memory_order_seq_cst) && idle.exchange(false, std::memory_order_seq_cst))
      wake(claims.epoch_address());
  }
};

ThreadTeam::ThreadTeam(int threads) : size_(1), shared_(std::make_unique<Shared>(threads)) {
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
  shared_->stop.store(true, std::memory_order_relaxed);
  shared_->publish(0);
  for (std::thread& worker : shared_->workers) worker.join();
}

void ThreadTeam::pin() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (size_ == 1 || sched_getaffinity(0, sizeof(allowed), &allowed) != 0 || CPU_COUNT(&allowed) != size_)
    return;
  size_t thread = 0;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(static_cast<size_t>(core), &allowed)) continue;
    cpu_set_t own;
    CPU_ZERO(&own);
    CPU_SET(static_cast<size_t>(core), &own);
    const pthread_t handle = thread == 0 ? pthread_self() : shared_->workers[thread - 1].native_handle();
    if (pthread_setaffinity_np(handle, sizeof(own), &own) != 0) return;  // refused: threads stay free
    shared_->members[thread++].seat.set_home(core);
  }
  shared_->members[0].seat.take();
  shared_->pinned.store(true, std::memory_order_release);
}

void ThreadTeam::run_erased(int64_t count, int64_t grain, Erased task, void* context) {
  if (count <= 0) return;
  if (size_ == 1 || count <= grain) return task(context, {0, count}, 0);
  grain *= count / grain / INT_MAX + 1;  // units are counted in 32 bits
  const int64_t units = (count + grain - 1) / grain;
  Shared& shared = *shared_;
  shared.task = task;
  shared.context = context;
  shared.count = count;
  shared.grain = grain;
  shared.units = static_cast<uint32_t>(units);
  shared.left.store(static_cast<int>(units), std::memory_order_relaxed);
  shared.publish(units);
  shared.join(shared.work_off(0));
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
