#include "engine/runtime/executor.h"

#include <time.h>

#include <algorithm>

namespace orrery::runtime {
namespace {

int64_t now_ns() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

Executor::Executor(kernels::ThreadTeam& team, const weights::DevicePtr& device)
    : team_(team), device_(device ? std::make_unique<DeviceRunner>(device) : nullptr) {}

Result<void> Executor::grow(weights::Buffer& buffer, size_t bytes) {
  if (buffer.size() >= bytes && buffer.size() > 0) return {};
  buffer = {};
  ORRERY_ASSIGN(buffer, weights::Buffer::allocate(std::max<size_t>(bytes, 64)));
  bytes_.store(arena_.size() + workspace_.size(), std::memory_order_relaxed);
  return {};
}

Result<void> Executor::run(const compile::Plan& plan, StepBatch& batch,
                           std::span<const kernels::PagedKv> states, Profiler* profiler) {
  if (device_) {
    const Result<void> done = device_->run(plan, batch, states, profiler);
    bytes_.store(device_->bytes(), std::memory_order_relaxed);
    return done;
  }
  ORRERY_TRY(grow(arena_, plan.arena_bytes));
  ORRERY_TRY(grow(workspace_, plan.workspace_bytes));
  context_ = {};
  batch.fill(context_);
  context_.states = states;
  context_.arena = arena_.data();
  context_.workspace = workspace_.data();
  context_.team = &team_;
  if (!profiler || !profiler->enabled()) {
    for (const compile::Step& step : plan.steps) step.run(context_);
    return {};
  }
  times_.resize(plan.steps.size() + 1);
  int64_t* time = times_.data();
  *time++ = now_ns();
  for (const compile::Step& step : plan.steps) {
    step.run(context_);
    *time++ = now_ns();
  }
  profiler->record(plan, batch.is_decode() ? Phase::decode : Phase::prefill, context_, times_);
  return {};
}

const float* Executor::output(const compile::Plan& plan, size_t index) const {
  if (device_) return device_->output(plan, index);
  if (index >= plan.output_slots.size()) return nullptr;
  return static_cast<const float*>(context_.address(plan.output_slots[index]));
}

}  // namespace orrery::runtime
