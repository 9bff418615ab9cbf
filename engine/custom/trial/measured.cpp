#include "engine/custom/trial/measured.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "engine/custom/trial/report.h"

namespace orrery::custom::trial {

Difference difference_of(const Body& body, const orrery_call& call, const std::vector<Bytes>& expected,
                         const std::vector<Bytes>& found, std::string_view side, std::string_view other) {
  Difference worst;
  for (size_t o = 0; o < found.size(); ++o) {
    const orrery_tensor& type = call.outputs[o];
    const double allowed = tolerance_of(body.library().op().tolerance, type.dtype);
    double largest = 0, most = 0;
    size_t at = 0;
    for (size_t i = 0; i < static_cast<size_t>(elements_of(type)); ++i) {
      const double a = element_at(expected[o].data(), type.dtype, i),
                   b = element_at(found[o].data(), type.dtype, i);
      if (std::isfinite(a)) largest = std::max(largest, std::abs(a));
      if (a == b || (std::isnan(a) && std::isnan(b))) continue;
      const double difference = std::isfinite(a) && std::isfinite(b) ? std::abs(a - b) : INFINITY;
      if (difference > most) most = difference, at = i;
    }
    const double relative = most > 0 ? most / largest : 0;  // infinite where only zeros are expected
    if (o > 0 && !(relative > allowed) && (worst.over() || relative <= worst.most)) continue;
    worst = {relative, allowed, ""};
    if (relative > 0)
      worst.where = fmt::format("element {} of {} is {:.7g} {} and {:.7g} {}", at, body.outputs()[o],
                                element_at(found[o].data(), type.dtype, at), side,
                                element_at(expected[o].data(), type.dtype, at), other);
  }
  return worst;
}

double median_us(const std::function<void(int)>& calls) {
  using Clock = std::chrono::steady_clock;
  constexpr double kSample = 200, kAll = 20000;  // microseconds
  constexpr int kSamples = 9, kMostCalls = 1000;
  const auto timed = [&](int count) {
    const auto begin = Clock::now();
    calls(count);
    return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
  };
  const double first = timed(1);
  double spent = first;
  if (first > kAll) return first;
  const int count = static_cast<int>(std::clamp(kSample / std::max(first, 0.01), 1.0, double{kMostCalls}));
  std::vector<double> samples;
  while (samples.size() < kSamples && (samples.empty() || spent < kAll)) {
    const double us = timed(count);
    spent += us;
    samples.push_back(us / count);
  }
  std::ranges::sort(samples);
  return samples[samples.size() / 2];
}

void tell_case(const Body& body, const Case& one, std::string_view device, std::string_view against,
               const Difference& difference, double us) {
  tell("case", fmt::format("{}\t{}\t{}\t{}\t{:.6g}\t{:.6g}\t{:.6g}", body.name(), one.words, device, against,
                           difference.most, difference.allowed, us));
}

}  // namespace orrery::custom::trial
