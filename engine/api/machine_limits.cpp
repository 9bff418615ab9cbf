#include "engine/api/machine_limits.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <vector>

#include "kernels/cpu/isa.h"

namespace orrery::api {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Runs `round` on the team for `budget` seconds; the best of the times of one round.
template <class Round>
double best_seconds(kernels::ThreadTeam& team, double budget, Round&& round) {
  double best = 1e9;
  const auto start = Clock::now();
  do {
    const auto before = Clock::now();
    team.run(round);
    best = std::min(best, seconds_since(before));
  } while (seconds_since(start) < budget);
  return best;
}

typedef float Lanes __attribute__((vector_size(64)));
constexpr int kChains = 12;  // hide the latency of the multiply-adds

/// The bodies; each instruction set gets its own copy below, chosen as the kernels choose.
inline __attribute__((always_inline)) uint64_t sum_words_body(const uint64_t* data, size_t count) {
  uint64_t sums[32] = {};
  for (size_t i = 0; i + 32 <= count; i += 32)
    for (size_t k = 0; k < 32; ++k) sums[k] += data[i + k];
  uint64_t sum = 0;
  for (const uint64_t part : sums) sum += part;
  return sum;
}

inline __attribute__((always_inline)) void multiply_add_body(int64_t rounds, float factor, float* result) {
  Lanes sums[kChains], a{}, b{};
  for (int lane = 0; lane < 16; ++lane) {
    a[lane] = factor;
    b[lane] = 1.0F - factor;
  }
  for (int c = 0; c < kChains; ++c) sums[c] = b * static_cast<float>(c + 1);
  for (int64_t i = 0; i < rounds; ++i)
    for (int c = 0; c < kChains; ++c) sums[c] = sums[c] * a + b;
  float total = 0;
  for (int c = 0; c < kChains; ++c) total += sums[c][c];
  *result = total;
}

struct Probe {
  uint64_t (*sum_words)(const uint64_t* data, size_t count);
  void (*multiply_add)(int64_t rounds, float factor, float* result);
};

#define ORRERY_PROBE(name, attributes)                                               \
  attributes uint64_t sum_words_##name(const uint64_t* data, size_t count) {         \
    return sum_words_body(data, count);                                              \
  }                                                                                  \
  attributes void multiply_add_##name(int64_t rounds, float factor, float* result) { \
    multiply_add_body(rounds, factor, result);                                       \
  }                                                                                  \
  constexpr Probe k_##name{sum_words_##name, multiply_add_##name};

ORRERY_PROBE(baseline, )
#if defined(__x86_64__)
ORRERY_PROBE(avx2, __attribute__((target("avx2,fma"))))
ORRERY_PROBE(avx512,
             __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,fma,prefer-vector-width=512"))))
#endif

Probe probe() {
#if defined(__x86_64__)
  switch (kernels::machine_isa()) {
    case kernels::Isa::avx512:
      return k_avx512;
    case kernels::Isa::avx2:
      return k_avx2;
    case kernels::Isa::baseline:
      break;
  }
#endif
  return k_baseline;
}

/// Each thread sums its share of a buffer much larger than the caches.
double read_rate(kernels::ThreadTeam& team) {
  constexpr size_t kBytes = size_t{160} << 20;
  std::vector<uint64_t> data(kBytes / sizeof(uint64_t), 1);
  std::atomic<uint64_t> sink{0};
  const double seconds = best_seconds(team, 0.04, [&](int thread) {
    const auto share = team.share(static_cast<int64_t>(data.size()), thread, 512);
    sink += probe().sum_words(data.data() + share.begin, static_cast<size_t>(share.end - share.begin));
  });
  return sink.load() == 0 ? 0 : static_cast<double>(kBytes) / seconds * 1e-9;
}

double multiply_rate(kernels::ThreadTeam& team) {
  constexpr int64_t kRounds = 200000;
  std::atomic<float> sink{0};
  const double seconds = best_seconds(team, 0.03, [&](int) {
    float result = 0;
    probe().multiply_add(kRounds, 0.75F, &result);
    sink = result;
  });
  const double flops = 2.0 * 16 * kChains * static_cast<double>(kRounds) * team.size();
  return sink.load() == 0 ? 0 : flops / seconds * 1e-9;
}

}  // namespace

MachineLimits measure_limits(kernels::ThreadTeam& team) {
  MachineLimits limits;
  limits.threads = team.size();
  limits.cpu = kernels::isa_summary();
  limits.gflops = multiply_rate(team);
  limits.read_gbytes_per_second = read_rate(team);
  return limits;
}

}  // namespace orrery::api
