#include "kernels/machine_speed.h"

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

/// Runs `round(thread)` as often as the team has threads, over and over for `budget` seconds; the best of the
/// times. In that one every thread had a round.
template <class Round>
double best_seconds(ThreadTeam& team, double budget, Round&& round) {
  double best = 1e9;
  const auto start = Clock::now();
  do {
    const auto before = Clock::now();
    team.run(team.size(), 1, [&](ThreadTeam::Range chunk, int thread) {
      for (int64_t i = chunk.begin; i < chunk.end; ++i) round(thread);
    });
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
  static const SpeedTable& best = []() -> const SpeedTable& {
    const CpuFeatures features = this_machine().cpu.features;
    if (features.has(kAmxBf16)) return amx_bf16::kSpeed;
    if (features.has(kAvx512Bf16)) return avx512_bf16::kSpeed;
    if (features.has(kAvx512Vnni)) return avx512_vnni::kSpeed;
    if (features.has(kAvx512)) return avx512::kSpeed;
    if (features.has(kAvx2Vnni)) return avx2_vnni::kSpeed;
    return features.has(kAvx2) ? avx2::kSpeed : kPlain;
  }();
  return best;
}

/// What the largest level takes.
size_t most_bytes() {
  constexpr size_t kUsual = size_t{160} << 20, kMost = size_t{512} << 20;
  return std::clamp(size_t{2} * this_machine().cpu.l3_bytes, kUsual, kMost);
}

}  // namespace

bool SpeedMeter::measure(ThreadTeam& team) {
  if (arithmetic_ < kArithmetics) {
    multiply(team);
    return true;
  }
  read(team);
  return data_ != nullptr;
}

void SpeedMeter::multiply(ThreadTeam& team) {
  constexpr int64_t kRounds = 100000;
  const size_t arithmetic = arithmetic_++;
  const auto multiply = table().multiply[arithmetic];
  if (!multiply) return;
  std::atomic<int> sink{0};
  const double seconds = best_seconds(team, 0.015, [&](int) { sink = multiply(kRounds); });
  multiplying_[arithmetic] = table().flops[arithmetic] * static_cast<double>(kRounds) * team.size() / seconds;
}

/// Where nothing was written all pages are one, which a cache holds.
void SpeedMeter::fill(ThreadTeam& team, size_t bytes) {
  const auto words = static_cast<int64_t>((bytes - filled_) / sizeof(uint64_t));
  uint64_t* data = data_.get() + filled_ / sizeof(uint64_t);
  team.run(words, 512,
           [&](ThreadTeam::Range chunk, int) { std::fill(data + chunk.begin, data + chunk.end, 1); });
  filled_ = bytes;
}

void SpeedMeter::read(ThreadTeam& team) {
  constexpr size_t kLeast = size_t{16} << 10;
  constexpr size_t kRead =
      size_t{4} << 20;  // in one round at least, so that the team's start counts for little
  const size_t most = most_bytes();
  if (!data_) data_ = std::make_unique_for_overwrite<uint64_t[]>(most / sizeof(uint64_t));
  const size_t bytes = filled_ == 0 ? kLeast * static_cast<size_t>(team.size()) : std::min(filled_ * 2, most);
  fill(team, bytes);
  const size_t times = std::max<size_t>(1, kRead / bytes);
  std::atomic<uint64_t> sink{0};
  // A thread always reads the same part, which its caches hold.
  const size_t part = bytes / sizeof(uint64_t) / static_cast<size_t>(team.size());
  const double seconds = best_seconds(team, bytes == most ? 0.03 : 0.006, [&](int thread) {
    const uint64_t* own = data_.get() + static_cast<size_t>(thread) * part;
    for (size_t i = 0; i < times; ++i) sink += table().sum_words(own, part);
  });
  reading_.push_back({static_cast<double>(bytes), static_cast<double>(bytes * times) / seconds});
  if (bytes < most) return;
  data_.reset();
  // What is read faster although it is more was disturbed before.
  for (size_t i = reading_.size() - 1; i > 0; --i)
    reading_[i - 1].bytes_per_second =
        std::max(reading_[i - 1].bytes_per_second, reading_[i].bytes_per_second);
}

}  // namespace orrery::kernels
