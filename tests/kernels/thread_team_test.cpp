// The thread team: every thread runs every task once, barriers hold, shares cover, sleeping threads wake.
#include "kernels/thread_team.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace orrery::kernels {
namespace {

TEST(ThreadTeam, EveryThreadRunsEveryTaskOnce) {
  for (const int size : {1, 2, 3, 5}) {
    ThreadTeam team(size);
    ASSERT_EQ(team.size(), size);
    std::vector<int> calls(static_cast<size_t>(size));  // plain ints: the join publishes them
    for (int i = 0; i < 500; ++i) team.run([&](int thread) { ++calls[static_cast<size_t>(thread)]; });
    for (const int count : calls) EXPECT_EQ(count, 500);
  }
}

TEST(ThreadTeam, ZeroOrFewerThreadsMeanOne) {
  EXPECT_EQ(ThreadTeam(0).size(), 1);
  EXPECT_EQ(ThreadTeam(-3).size(), 1);
}

TEST(ThreadTeam, BarriersSeparatePhases) {
  ThreadTeam team(3);
  constexpr int kPhases = 200;
  std::vector<int> written(3 * kPhases);
  std::atomic<int> wrong{0};
  team.run([&](int thread) {
    for (int phase = 0; phase < kPhases; ++phase) {
      written[static_cast<size_t>(3 * phase + thread)] = phase + 1;
      team.barrier();
      for (int other = 0; other < 3; ++other) {
        if (written[static_cast<size_t>(3 * phase + other)] != phase + 1) ++wrong;
      }
    }
  });
  EXPECT_EQ(wrong, 0);
}

TEST(ThreadTeam, SleepingThreadsWake) {
  ThreadTeam team(2);
  for (int i = 0; i < 5; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(3));  // far beyond the spin: workers sleep
    int ran[2] = {0, 0};
    team.run([&](int thread) {
      if (thread == 1)
        std::this_thread::sleep_for(std::chrono::milliseconds(2));  // the caller sleeps in the join
      ran[thread] = 1;
      if (thread == 0) std::this_thread::sleep_for(std::chrono::milliseconds(4));
      team.barrier();
    });
    EXPECT_EQ(ran[0] + ran[1], 2);
  }
}

TEST(ThreadTeam, SharesCoverAllItemsInWholeGrains) {
  for (const int size : {1, 2, 3, 7}) {
    const ThreadTeam team(size);
    for (const int64_t count : {0, 1, 5, 31, 32, 33, 577}) {
      for (const int64_t grain : {1, 4, 32}) {
        int64_t next = 0;
        for (int thread = 0; thread < size; ++thread) {
          const ThreadTeam::Range range = team.share(count, thread, grain);
          EXPECT_EQ(range.begin, next);
          EXPECT_LE(range.begin, range.end);
          if (range.end != count) {
            EXPECT_EQ(range.end % grain, 0);
          }
          next = range.end;
        }
        EXPECT_EQ(next, count);
      }
    }
  }
}

TEST(ThreadTeam, TeamsComeAndGo) {
  for (int i = 0; i < 50; ++i) {
    ThreadTeam team(3);
    if (i % 2 == 0) team.run([](int) {});
  }
  EXPECT_GE(available_cores(), 1);
}

TEST(ThreadTeam, ManyTeamsShareTheCores) {
  // More runnable threads than cores: waits must give the core away after their spin.
  std::vector<std::thread> callers;
  std::atomic<int> total{0};
  for (int c = 0; c < 4; ++c) {
    callers.emplace_back([&total] {
      ThreadTeam team(3);
      for (int i = 0; i < 50; ++i) {
        team.run([&](int) {
          team.barrier();
          ++total;
        });
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(total, 4 * 3 * 50);
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

std::vector<cpu_set_t> affinities(ThreadTeam& team) {
  std::vector<cpu_set_t> sets(static_cast<size_t>(team.size()));
  team.run([&](int thread) {
    cpu_set_t& set = sets[static_cast<size_t>(thread)];
    CPU_ZERO(&set);
    sched_getaffinity(0, sizeof(set), &set);
  });
  return sets;
}

TEST(ThreadTeam, PinnedThreadsOfAFullTeamHaveACoreEach) {
  const int cores = available_cores();
  if (cores < 2) GTEST_SKIP() << "one core: nothing to tell apart";
  const Affinity affinity;
  ThreadTeam team(cores);
  ASSERT_EQ(team.size(), cores);
  for (const cpu_set_t& set : affinities(team)) EXPECT_EQ(CPU_COUNT(&set), cores) << "free before pin()";
  team.pin();
  cpu_set_t taken;
  CPU_ZERO(&taken);
  for (const cpu_set_t& set : affinities(team)) {
    EXPECT_EQ(CPU_COUNT(&set), 1);
    CPU_OR(&taken, &taken, &set);
  }
  EXPECT_TRUE(CPU_EQUAL(&taken, &affinity.before())) << "a core is shared, or lies outside the mask";
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
