#include "kernels/fair_mutex.h"

#include <gtest/gtest.h>

#include <chrono>
#include <mutex>
#include <thread>

namespace orrery::kernels {
namespace {

TEST(FairMutex, OneAtATime) {
  FairMutex mutex;
  int count = 0;
  const auto add = [&] {
    for (int i = 0; i < 5000; ++i) {
      const std::scoped_lock lock(mutex);
      ++count;
    }
  };
  std::thread other(add);
  add();
  other.join();
  EXPECT_EQ(count, 10000);
}

TEST(FairMutex, WhoAsksAgainAtOnceWaitsForTheOthers) {
  FairMutex mutex;
  std::atomic<int> busy{0};
  std::atomic<bool> done{false};
  std::thread greedy([&] {
    while (!done) {
      const std::scoped_lock lock(mutex);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      ++busy;
    }
  });
  while (busy == 0) std::this_thread::yield();
  const int before = busy;
  for (int turn = 0; turn < 20; ++turn) const std::scoped_lock lock(mutex);
  EXPECT_LE(busy - before, 25) << "a turn each";
  done = true;
  greedy.join();
}

}  // namespace
}  // namespace orrery::kernels
