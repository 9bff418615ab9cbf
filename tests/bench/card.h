// The first CUDA device and what benchmarks of its rows need: memory, comparisons, times of captured calls.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <memory>
#include <vector>

#include "kernels/device_module.h"
#include "tests/bench/random_weights.h"

namespace orrery::kernels::bench {

/// The card and what lies in its memory until the program ends a case.
class Card {
 public:
  explicit Card(std::unique_ptr<Device> device) : device_(std::move(device)) {}
  ~Card() { clear(); }
  Card(const Card&) = delete;
  Card& operator=(const Card&) = delete;

  std::byte* memory(size_t bytes) {
    memory_.push_back(device_->allocate(std::max<size_t>(bytes, 1)));
    return static_cast<std::byte*>(memory_.back());
  }
  template <class T>
  T* put(const std::vector<T>& values) {
    void* to = memory(values.size() * sizeof(T));
    device_->upload(to, values.data(), values.size() * sizeof(T));
    return static_cast<T*>(to);
  }
  std::vector<float> get(const float* from, int64_t count) {
    std::vector<float> values(static_cast<size_t>(count));
    device_->download(values.data(), from, values.size() * sizeof(float));
    return values;
  }
  void clear() {
    device_->wait();
    for (void* each : memory_) device_->release(each);
    memory_.clear();
  }
  Device& device() { return *device_; }

 private:
  std::unique_ptr<Device> device_;
  std::vector<void*> memory_;
};

/// Null, and said so, where there is none.
inline std::unique_ptr<Card> first_card() {
  std::string reason;
  const DeviceModule* module = cuda_module(reason);
  if (module == nullptr || module->count(reason) == 0) {
    std::printf("no device to time: %s\n", reason.c_str());
    return nullptr;
  }
  auto card = std::make_unique<Card>(module->open(0));
  std::printf("%s\n", card->device().facts().name.c_str());
  return card;
}

/// Of the largest expected element; infinite where something is not finite.
inline double worst_difference(const std::vector<float>& actual, const std::vector<float>& expected) {
  double worst = 0, scale = 1e-30;
  for (size_t i = 0; i < expected.size(); ++i) {
    const double difference = std::abs(static_cast<double>(actual[i]) - expected[i]);
    worst = std::isfinite(difference) ? std::max(worst, difference) : INFINITY;
    scale = std::max(scale, std::abs(static_cast<double>(expected[i])));
  }
  return worst / scale;
}

/// Runs the reference, with a workspace, on the host's operands.
template <class Op>
void run_reference(std::span<const Row<Op>> rows, const typename Op::Problem& problem,
                   const typename Op::Args& args) {
  const Row<Op>& row = rows.back();
  ThreadTeam team(1);
  std::vector<std::max_align_t> workspace(
      (row.workspace != nullptr ? row.workspace(problem, machine_of(row.device), 1) : 0) /
          sizeof(std::max_align_t) +
      64);
  row.run(args, {.team = &team, .workspace = reinterpret_cast<std::byte*>(workspace.data())});
}

/// Microseconds of a call among `calls` that are captured as a graph, which is launched behind itself; the
/// median of `graphs`.
inline double graph_time(Device& device, int calls, int graphs, const std::function<void(int)>& call) {
  device.begin_capture();
  for (int i = 0; i < calls; ++i) call(i);
  const std::unique_ptr<DeviceGraph> graph = device.end_capture();
  const auto from = device.make_mark(), to = device.make_mark();
  std::vector<double> times;
  for (int i = 0; i < graphs; ++i) {
    device.launch(*graph);
    device.record(*from);
    device.launch(*graph);
    device.record(*to);
    device.wait();
    times.push_back(device.microseconds(*from, *to) / calls);
  }
  std::nth_element(times.begin(), times.begin() + graphs / 2, times.end());
  return times[static_cast<size_t>(graphs / 2)];
}

}  // namespace orrery::kernels::bench
