#include "engine/runtime/device_runner.h"

#include <algorithm>

namespace orrery::runtime {
namespace {

constexpr size_t kMostGraphs = 64;  // a person's models, buckets and phases
constexpr size_t kMostSeen = 512;

/// FNV-1a over words.
class AddressHash {
 public:
  AddressHash& add(const void* address) { return add(reinterpret_cast<uintptr_t>(address)); }
  AddressHash& add(uint64_t word) {
    hash_ = (hash_ ^ word) * 0x100000001B3U;
    return *this;
  }
  uint64_t value() const { return hash_; }

 private:
  uint64_t hash_ = 0xCBF29CE484222325U;
};

}  // namespace

DeviceRunner::DeviceRunner(weights::DevicePtr device)
    : device_(std::move(device)),
      epoch_(device_->epoch()),
      staged_(device_),
      seen_(kMostSeen),
      graphs_(kMostGraphs) {}

DeviceRunner::~DeviceRunner() = default;

/// After the device was renewed nothing of before can be used.
void DeviceRunner::follow_epoch() {
  if (epoch_ == device_->epoch()) return;
  epoch_ = device_->epoch();
  graphs_.clear();
  seen_.clear();
  marks_.clear();
  arena_ = {};
  workspace_ = {};
  staged_.forget();
}

DeviceRunner::Key DeviceRunner::key_of(const compile::Plan& plan, bool measured) const {
  AddressHash addresses;
  addresses.add(context_.arena).add(context_.workspace).add(context_.choices);
  addresses.add(staged_.source()).add(staged_.target());
  for (const kernels::PagedKv& state : context_.states) addresses.add(state.base).add(state.page_stride);
  return {plan.id,          addresses.value(),  context_.tokens,     context_.sequences,
          context_.outputs, context_.max_pages, context_.max_length, measured};
}

/// A step that was not seen before runs directly; a capture would cost more than it brings if it never came
/// again.
DeviceRunner::How DeviceRunner::how_to_run(const compile::Plan& plan, Phase phase, bool profiled) {
  bool& seen = seen_.get(key_of(plan, false));
  if (!seen) {
    seen = true;
    return {false, profiled && phase == Phase::prefill};
  }
  const uint64_t count = replays_[static_cast<size_t>(phase)]++;
  return {true, profiled && count % kMeasuredEvery == 0};
}

void DeviceRunner::issue(const compile::Plan& plan, bool measured) {
  staged_.send();
  if (!measured) {
    for (const compile::Step& step : plan.steps) step.run(context_);
    return;
  }
  device_->record(*marks_[0]);
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    plan.steps[i].run(context_);
    device_->record(*marks_[i + 1]);
  }
}

kernels::DeviceGraph& DeviceRunner::captured(const compile::Plan& plan, bool measured) {
  auto& graph = graphs_.get(key_of(plan, measured));
  if (graph) return *graph;
  device_->begin_capture();
  try {
    issue(plan, measured);
  } catch (...) {
    static_cast<void>(device_->end_capture());
    throw;
  }
  graph = device_->end_capture();
  return *graph;
}

void DeviceRunner::report(const compile::Plan& plan, Profiler& profiler, Phase phase) {
  times_.assign(plan.steps.size() + 1, 0);
  for (size_t i = 0; i < plan.steps.size(); ++i)
    times_[i + 1] = times_[i] + static_cast<int64_t>(device_->microseconds(*marks_[i], *marks_[i + 1]) * 1e3);
  profiler.record(plan, phase, staged_.here(), times_);
}

Result<void> DeviceRunner::run(const compile::Plan& plan, StepBatch& batch,
                               std::span<const kernels::PagedKv> states, Profiler* profiler) {
  follow_epoch();
  ORRERY_TRY(grow(arena_, plan.arena_bytes, device_));
  ORRERY_TRY(grow(workspace_, plan.workspace_bytes, device_));
  ORRERY_TRY(staged_.stage(batch));
  output_.clear();
  context_ = staged_.there();
  context_.states = states;
  context_.arena = arena_.data();
  context_.workspace = workspace_.data();
  context_.stream = device_->stream();
  const Phase phase = batch.is_decode() ? Phase::decode : Phase::prefill;
  const How how = how_to_run(plan, phase, profiler && profiler->enabled());
  while (how.measured && marks_.size() < plan.steps.size() + 1) marks_.push_back(device_->make_mark());
  if (how.replayed) {
    device_->launch(captured(plan, how.measured));
  } else {
    issue(plan, how.measured);
  }
  device_->wait();
  staged_.collect();
  if (how.measured) report(plan, *profiler, phase);
  return {};
}

const float* DeviceRunner::output(const compile::Plan& plan, size_t index) {
  if (index >= plan.output_slots.size()) return nullptr;
  const graph::Graph& graph = *plan.graph;
  const graph::ValueType& type = graph.value(graph.outputs()[index]).type;
  const auto elements = element_count(type.shape, context_.bindings());
  if (!elements || type.dtype != DType::f32) return nullptr;
  if (output_.empty() || output_index_ != index) {
    output_index_ = index;
    output_.resize(static_cast<size_t>(std::max<int64_t>(*elements, 1)));
    device_->download(output_.data(), context_.address(plan.output_slots[index]),
                      static_cast<size_t>(*elements) * sizeof(float));
  }
  return output_.data();
}

}  // namespace orrery::runtime
