#include "kernels/machine_speed.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>

#include "kernels/cpu/isa.h"
#include "kernels/cpu/isa/speed.h"

namespace orrery::kernels {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Runs `round` on the team for `budget` seconds; the best of the times of one round.
template <class Round>
double best_seconds(ThreadTeam& team, double budget, Round&& round) {
  double best = 1e9;
  const auto start = Clock::now();
  do {
    const auto before = Clock::now();
    team.run(round);
    best = std::min(best, seconds_since(before));
  } while (seconds_since(start) < budget);
  return best;
}

uint64_t sum_words(const uint64_t* data, size_t count) {
  uint64_t sum = 0;
  for (size_t i = 0; i < count; ++i) sum += data[i];
  return sum;
}

int multiply_f32(int64_t rounds) {
  float sums[4] = {1, 2, 3, 4};
  for (int64_t i = 0; i < rounds; ++i)
    for (float& sum : sums) sum = sum * 0.75F + 0.25F;
  return static_cast<int>(sums[0] + sums[1] + sums[2] + sums[3]);
}

constexpr SpeedTable kPlain = {sum_words, {multiply_f32}, {2.0 * 4}};

const SpeedTable& table() {
  switch (machine_isa()) {
    case Isa::avx512:
      return avx512::kSpeed;
    case Isa::avx2:
      return avx2::kSpeed;
    case Isa::baseline:
      break;
  }
  return kPlain;
}

size_t last_cache_bytes() {
  const long bytes = sysconf(_SC_LEVEL3_CACHE_SIZE);
  return bytes > 0 ? static_cast<size_t>(bytes) : 0;
}

}  // namespace

std::vector<ReadingSpeed> measure_reading(ThreadTeam& team) {
  constexpr size_t kLeast = size_t{16} << 10, kUsual = size_t{160} << 20, kMost = size_t{512} << 20;
  constexpr size_t kRead =
      size_t{4} << 20;  // in one round at least, so that the team's start counts for little
  const size_t most = std::clamp(2 * last_cache_bytes(), kUsual, kMost);
  std::vector<uint64_t> data(most / sizeof(uint64_t), 1);
  std::atomic<uint64_t> sink{0};
  std::vector<ReadingSpeed> speeds;
  for (size_t bytes = kLeast * static_cast<size_t>(team.size());; bytes = std::min(bytes * 2, most)) {
    const size_t times = std::max<size_t>(1, kRead / bytes);
    const double seconds = best_seconds(team, bytes == most ? 0.04 : 0.006, [&](int thread) {
      const auto share = team.share(static_cast<int64_t>(bytes / sizeof(uint64_t)), thread, 512);
      for (size_t i = 0; i < times; ++i)
        sink += table().sum_words(data.data() + share.begin, static_cast<size_t>(share.end - share.begin));
    });
    speeds.push_back({static_cast<double>(bytes), static_cast<double>(bytes * times) / seconds});
    if (bytes == most) break;
  }
  // What is read faster although it is more was disturbed before.
  for (size_t i = speeds.size() - 1; i > 0; --i)
    speeds[i - 1].bytes_per_second = std::max(speeds[i - 1].bytes_per_second, speeds[i].bytes_per_second);
  return speeds;
}

std::array<double, kArithmetics> measure_multiplying(ThreadTeam& team) {
  constexpr int64_t kRounds = 100000;
  std::array<double, kArithmetics> speeds = {};
  std::atomic<int> sink{0};
  for (size_t i = 0; i < kArithmetics; ++i) {
    const auto multiply = table().multiply[i];
    if (!multiply) continue;
    const double seconds = best_seconds(team, 0.015, [&](int) { sink = multiply(kRounds); });
    speeds[i] = table().flops[i] * static_cast<double>(kRounds) * team.size() / seconds;
  }
  return speeds;
}

}  // namespace orrery::kernels
