// A mutex that serves in the order of asking. Whoever lets go of a std::mutex and asks again at once mostly
// gets it, before the one who waits has woken up: of two threads with step after step the slower would
// starve.
#pragma once

#include <atomic>
#include <cstdint>

namespace orrery::kernels {

class FairMutex {
 public:
  FairMutex() = default;
  FairMutex(const FairMutex&) = delete;
  FairMutex& operator=(const FairMutex&) = delete;

  void lock() {
    const uint32_t mine = next_.fetch_add(1, std::memory_order_relaxed);
    for (uint32_t now = serving_.load(std::memory_order_acquire); now != mine;
         now = serving_.load(std::memory_order_acquire))
      serving_.wait(now, std::memory_order_acquire);
  }
  void unlock() {
    serving_.fetch_add(1, std::memory_order_release);
    serving_.notify_all();
  }

 private:
  std::atomic<uint32_t> next_{0}, serving_{0};
};

}  // namespace orrery::kernels
