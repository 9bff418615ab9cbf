// The thread team: every item runs once whoever takes it, late threads find nothing and are not waited for,
// sleeping threads wake, displaced threads hold nobody up.
#include "kernels/thread_team.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <numeric>
#include <random>
#include <set>
#include <thread>
#include <vector>

namespace orrery::kernels {
namespace {

using Range = ThreadTeam::Range;

TEST(ThreadTeam, EveryItemRunsOnceInWholeGrains) {
  std::mt19937 random(7);
  for (const int size : {1, 2, 3, 7, 16}) {
    ThreadTeam team(size);
    ASSERT_EQ(team.size(), size);
    for (int round = 0; round < 200; ++round) {
      const int64_t count = random() % 3000, grain = 1 + random() % 70;
      std::vector<int> calls(static_cast<size_t>(count));  // plain ints: the join publishes them
      std::atomic<int> wrong{0};
      team.run(count, grain, [&](Range chunk, int thread) {
        if (chunk.begin >= chunk.end || chunk.begin % grain != 0) ++wrong;
        if (chunk.end % grain != 0 && chunk.end != count) ++wrong;
        if (thread < 0 || thread >= size) ++wrong;
        for (int64_t i = chunk.begin; i < chunk.end; ++i) ++calls[static_cast<size_t>(i)];
      });
      EXPECT_EQ(wrong, 0);
      EXPECT_EQ(calls, std::vector<int>(calls.size(), 1)) << count << " by " << grain << ", team " << size;
    }
  }
}

TEST(ThreadTeam, ZeroOrFewerThreadsMeanOne) {
  EXPECT_EQ(ThreadTeam(0).size(), 1);
  EXPECT_EQ(ThreadTeam(-3).size(), 1);
}

TEST(ThreadTeam, MoreUnitsThanTheirCounterHolds) {
  ThreadTeam team(2);
  std::atomic<int64_t> items{0};
  constexpr int64_t kCount = (int64_t{1} << 40) + 3;
  team.run(kCount, 2, [&](Range chunk, int) {
    EXPECT_EQ(chunk.begin % 2, 0);
    items += chunk.end - chunk.begin;
  });
  EXPECT_EQ(items, kCount);
}

TEST(ThreadTeam, AMillionTasksBackToBack) {
  // A task and what it reads are gone when run() returns: a thread that came late to it must not look.
  ThreadTeam team(3);
  constexpr int kTasks = 1'000'000;
  int64_t sum = 0, expected = 0;
  for (int i = 0; i < kTasks; ++i) {
    int64_t items[4] = {};
    team.run(4, 1, [&items, i](Range chunk, int) {
      for (int64_t k = chunk.begin; k < chunk.end; ++k) items[k] += i + k;
    });
    sum = std::accumulate(std::begin(items), std::end(items), sum);
    expected += 4 * int64_t{i} + 6;
  }
  EXPECT_EQ(sum, expected);
}

/// Runs tasks until `enough` says so after one, at most for ten seconds. Whether it did.
template <class Task, class Enough>
bool run_until(ThreadTeam& team, Task&& task, Enough&& enough) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (std::chrono::steady_clock::now() < end) {
    team.run(team.size(), 1, task);
    if (enough()) return true;
  }
  return false;
}

TEST(ThreadTeam, AllThreadsTakePartAndAreWaitedFor) {
  for (const int size : {2, 3, 8}) {
    ThreadTeam team(size);
    std::mutex mutex;
    std::set<int> seen;
    std::atomic<int64_t> done{0};
    int64_t tasks = 0;
    const auto task = [&](Range chunk, int thread) {
      {
        const std::scoped_lock lock(mutex);
        seen.insert(thread);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(thread == 0 ? 1 : 2));
      done += chunk.end - chunk.begin;
    };
    EXPECT_TRUE(run_until(team, task, [&] {
      EXPECT_EQ(done, ++tasks * size);
      return seen.size() == static_cast<size_t>(size);
    }));
  }
}

/// Puts the affinity of the thread that made it back.
class Affinity {
 public:
  Affinity() { sched_getaffinity(0, sizeof(before_), &before_); }
  ~Affinity() { EXPECT_EQ(sched_setaffinity(0, sizeof(before_), &before_), 0); }
  Affinity(const Affinity&) = delete;
  Affinity& operator=(const Affinity&) = delete;
  const cpu_set_t& before() const { return before_; }

 private:
  cpu_set_t before_;
};

void keep_to(size_t core) {
  cpu_set_t own;
  CPU_ZERO(&own);
  CPU_SET(core, &own);
  ASSERT_EQ(sched_setaffinity(0, sizeof(own), &own), 0);
}

/// A thread that takes all the time it gets, on one core.
class Hog {
 public:
  explicit Hog(size_t core)
      : thread_([this, core] {
          keep_to(core);
          while (!stop_.load(std::memory_order_relaxed)) {
          }
        }) {}
  ~Hog() {
    stop_ = true;
    thread_.join();
  }
  Hog(const Hog&) = delete;
  Hog& operator=(const Hog&) = delete;

 private:
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

TEST(ThreadTeam, TheCallerDoesNotWaitForThoseWhoHaveNotBegun) {
  const Affinity affinity;
  const auto core = static_cast<size_t>(sched_getcpu());
  keep_to(core);
  const sched_param none{};
  ASSERT_EQ(sched_setscheduler(0, SCHED_IDLE, &none), 0);
  ThreadTeam team(4);  // its threads inherit the core, and get time on it when nobody else wants some
  ASSERT_EQ(sched_setscheduler(0, SCHED_OTHER, &none), 0);
  const Hog hog(core);
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 20; ++i) {
    std::atomic<int64_t> items{0};
    team.run(8, 1, [&](Range chunk, int) { items += chunk.end - chunk.begin; });
    EXPECT_EQ(items, 8);
    const timespec nap{0, 1'000'000};  // the workers, too, go to sleep
    nanosleep(&nap, nullptr);
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  EXPECT_LT(seconds, 1) << "the workers' turn comes after seconds";
}

TEST(ThreadTeam, SleepingThreadsWake) {
  ThreadTeam team(2);
  for (int i = 0; i < 5; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(3));  // far beyond the spin: the worker sleeps
    std::atomic<int> by_worker{0};
    const auto task = [&](Range, int thread) {
      by_worker += thread;
      // The worker takes longer, so that the caller sleeps in the join.
      std::this_thread::sleep_for(std::chrono::milliseconds(thread == 1 ? 4 : 2));
    };
    EXPECT_TRUE(run_until(team, task, [&] { return by_worker > 0; }));
  }
}

TEST(ThreadTeam, TeamsComeAndGo) {
  for (int i = 0; i < 50; ++i) {
    ThreadTeam team(3);
    if (i % 2 == 0) team.run(9, 1, [](Range, int) {});
    if (i % 10 == 9) std::this_thread::sleep_for(std::chrono::milliseconds(2));  // ends while workers sleep
  }
  EXPECT_GE(available_cores(), 1);
}

TEST(ThreadTeam, ManyTeamsShareTheCores) {
  // More runnable threads than cores: waits must give the core away after their spin.
  std::vector<std::thread> callers;
  std::atomic<int64_t> total{0};
  for (int c = 0; c < 4; ++c) {
    callers.emplace_back([&total] {
      ThreadTeam team(3);
      team.pin();
      for (int i = 0; i < 500; ++i)
        team.run(64, 1, [&](Range chunk, int) { total += chunk.end - chunk.begin; });
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(total, int64_t{4} * 500 * 64);
}

/// Each thread's cores, once all have told.
std::vector<cpu_set_t> affinities(ThreadTeam& team) {
  std::vector<cpu_set_t> sets(static_cast<size_t>(team.size()));
  std::atomic<uint64_t> told{0};
  const auto task = [&](Range, int thread) {
    cpu_set_t& set = sets[static_cast<size_t>(thread)];
    CPU_ZERO(&set);
    sched_getaffinity(0, sizeof(set), &set);
    told |= uint64_t{1} << thread;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  };
  EXPECT_TRUE(run_until(team, task, [&] { return told == (uint64_t{1} << team.size()) - 1; }));
  return sets;
}

/// One core for each thread, and all of `cores`.
bool one_core_each(const std::vector<cpu_set_t>& sets, const cpu_set_t& cores) {
  cpu_set_t taken;
  CPU_ZERO(&taken);
  for (const cpu_set_t& set : sets) {
    if (CPU_COUNT(&set) != 1) return false;
    CPU_OR(&taken, &taken, &set);
  }
  return CPU_EQUAL(&taken, &cores);
}

TEST(ThreadTeam, PinnedThreadsOfAFullTeamHaveACoreEach) {
  const int cores = available_cores();
  if (cores < 2 || cores > 63) GTEST_SKIP() << "one core: nothing to tell apart";
  const Affinity affinity;
  ThreadTeam team(cores);
  ASSERT_EQ(team.size(), cores);
  for (const cpu_set_t& set : affinities(team)) EXPECT_EQ(CPU_COUNT(&set), cores) << "free before pin()";
  team.pin();
  // Threads that change cores while they tell may name the same one.
  bool found = false;
  for (int i = 0; i < 100 && !found; ++i) found = one_core_each(affinities(team), affinity.before());
  EXPECT_TRUE(found) << "a core is shared, or lies outside the mask";
}

constexpr std::chrono::milliseconds kDisplaced{100};

/// Sends the thread that calls displace() away from its core for kDisplaced: by a thread of higher priority.
class Displacer {
 public:
  Displacer() {
    std::atomic<pid_t> tid{0};
    thread_ = std::thread([this, &tid] {
      const sched_param high{.sched_priority = 2};
      sched_setscheduler(0, SCHED_FIFO, &high);
      tid = gettid();
      tid.notify_one();
      called_.wait(false);
      const auto end = std::chrono::steady_clock::now() + kDisplaced;
      while (std::chrono::steady_clock::now() < end) {
      }
    });
    tid.wait(0);
    tid_ = tid;
  }
  ~Displacer() {
    displace();
    thread_.join();
  }
  Displacer(const Displacer&) = delete;
  Displacer& operator=(const Displacer&) = delete;

  bool called() const { return called_; }
  void displace() {
    if (called_) return;
    cpu_set_t here;
    CPU_ZERO(&here);
    CPU_SET(static_cast<size_t>(sched_getcpu()), &here);
    sched_setaffinity(tid_, sizeof(here), &here);
    called_ = true;
    called_.notify_one();
  }

 private:
  std::atomic<bool> called_{false};
  pid_t tid_ = 0;
  std::thread thread_;
};

/// How long the task takes in which `victim` is displaced. The team has a priority of its own, so that
/// nothing else on the machine displaces it.
double milliseconds_with_displaced(int victim) {
  double milliseconds = 0;
  std::thread([&] {
    const sched_param low{.sched_priority = 1};
    if (sched_setscheduler(0, SCHED_FIFO, &low) != 0) return;
    ThreadTeam team(available_cores());
    team.pin();
    Displacer displacer;
    auto start = std::chrono::steady_clock::now();
    const auto task = [&](Range, int thread) {
      const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(1);
      if (thread == victim) displacer.displace();
      while (std::chrono::steady_clock::now() < end) {
      }
    };
    EXPECT_TRUE(run_until(team, task, [&] {
      const auto now = std::chrono::steady_clock::now();
      milliseconds = std::chrono::duration<double, std::milli>(now - start).count();
      start = now;
      return displacer.called();
    }));
  }).join();
  return milliseconds;
}

TEST(ThreadTeam, ADisplacedWorkerFinishesOnTheCallersCore) {
  if (available_cores() < 2) GTEST_SKIP() << "one core: nowhere to go";
  const double milliseconds = milliseconds_with_displaced(1);
  if (milliseconds == 0) GTEST_SKIP() << "priorities are not allowed here";
  EXPECT_LT(milliseconds, kDisplaced.count() / 2);
}

TEST(ThreadTeam, ADisplacedCallerChangesCoresWithAWorker) {
  if (available_cores() < 2) GTEST_SKIP() << "one core: nowhere to go";
  const double milliseconds = milliseconds_with_displaced(0);
  if (milliseconds == 0) GTEST_SKIP() << "priorities are not allowed here";
  EXPECT_LT(milliseconds, kDisplaced.count() / 2);
}

TEST(ThreadTeam, PinLeavesATeamOfAnotherSizeFree) {
  const Affinity affinity;
  for (const int size : {available_cores() - 1, available_cores() + 1}) {
    if (size < 1) continue;
    ThreadTeam team(size);
    team.pin();
    for (const cpu_set_t& set : affinities(team)) EXPECT_TRUE(CPU_EQUAL(&set, &affinity.before())) << size;
  }
}

}  // namespace
}  // namespace orrery::kernels
