#include "engine/runtime/device_runner.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "engine/runtime/decode_job.h"

namespace orrery::runtime {
namespace {

constexpr size_t kAlignment = 256;
constexpr size_t kMostGraphs = 64;  // a person's models, buckets and phases; beyond it they begin anew
constexpr int64_t kLeastPages = 2;

size_t aligned(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

/// Copies spans behind each other into pinned memory and gives their addresses on the device.
class Packer {
 public:
  Packer(std::byte* host, const std::byte* device) : host_(host), device_(device) {}
  template <class T>
  const T* put(const T* values, size_t count, size_t room = 0) {
    std::byte* place = host_ + used_;
    if (count > 0) std::memcpy(place, values, count * sizeof(T));
    const auto* there = reinterpret_cast<const T*>(device_ + used_);
    used_ += aligned(std::max(count, room) * sizeof(T));
    return there;
  }
  template <class T>
  T* here() const {
    return reinterpret_cast<T*>(host_ + used_);
  }
  size_t used() const { return used_; }

 private:
  std::byte* host_;
  const std::byte* device_;
  size_t used_ = 0;
};

int64_t round_up_to_power(int64_t value, int64_t least) {
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max(value, least))));
}

}  // namespace

void DeviceRunner::PinnedFree::operator()(std::byte* memory) const {
  if (device_ && device_->epoch() == epoch_) device_->release_host(memory);
}

DeviceRunner::DeviceRunner(weights::DevicePtr device)
    : device_(std::move(device)), epoch_(device_->epoch()) {}

DeviceRunner::~DeviceRunner() = default;

/// After the device was renewed nothing of before can be used.
void DeviceRunner::follow_epoch() {
  if (epoch_ == device_->epoch()) return;
  epoch_ = device_->epoch();
  graphs_.clear();
  marks_.clear();
  for (weights::Buffer* buffer : {&arena_, &workspace_, &inputs_}) *buffer = {};
  staged_.reset();
  choices_.reset();
  staged_bytes_ = choices_bytes_ = 0;
}

Result<void> DeviceRunner::grow(weights::Buffer& buffer, size_t bytes) {
  if (buffer.size() >= bytes && buffer.size() > 0) return {};
  graphs_.clear();  // they hold the old address
  buffer = {};
  ORRERY_ASSIGN(buffer, weights::Buffer::allocate(aligned(std::max<size_t>(bytes, 1)), device_));
  return {};
}

void DeviceRunner::grow_pinned(Pinned& memory, size_t& size, size_t bytes) {
  if (size >= bytes && size > 0) return;
  graphs_.clear();
  memory.reset();
  size = 0;
  bytes = std::bit_ceil(std::max<size_t>(bytes, 4096));
  memory = Pinned(static_cast<std::byte*>(device_->allocate_host(bytes)), PinnedFree(device_.get(), epoch_));
  size = bytes;
}

/// Lays the step out in pinned memory and points context_ at where it will lie on the device. Only extents
/// decide the layout, so that a captured graph can copy it again.
Result<void> DeviceRunner::stage(StepBatch& batch) {
  host_ = {};
  batch.fill(host_);
  context_ = host_;
  const auto tokens = static_cast<size_t>(host_.tokens), sequences = static_cast<size_t>(host_.sequences),
             outputs = static_cast<size_t>(host_.outputs), width = static_cast<size_t>(host_.max_pages);
  const auto pages =
      host_.page_table ? static_cast<size_t>(round_up_to_power(host_.max_pages, kLeastPages)) : 0;
  constexpr size_t kRecent = DecodeJob::kRecentTokens;
  const size_t bytes = 2 * aligned(tokens * sizeof(int32_t)) + aligned((sequences + 1) * sizeof(int32_t)) +
                       aligned(sequences * sizeof(int32_t)) + aligned(outputs * sizeof(int32_t)) +
                       aligned(sequences * pages * sizeof(int32_t)) +
                       aligned(outputs * kRecent * sizeof(int32_t)) +
                       aligned(outputs * sizeof(kernels::Sample::Request));
  ORRERY_TRY(grow(inputs_, bytes));
  grow_pinned(staged_, staged_bytes_, bytes);
  grow_pinned(choices_, choices_bytes_, outputs * sizeof(kernels::Sample::Choice));
  Packer packer(staged_.get(), inputs_.data());
  context_.token_ids = packer.put(host_.token_ids, tokens);
  context_.positions = packer.put(host_.positions, tokens);
  context_.sequence_starts = packer.put(host_.sequence_starts, sequences + 1);
  context_.kv_lengths = packer.put(host_.kv_lengths, sequences);
  context_.output_rows = packer.put(host_.output_rows, outputs);
  if (pages > 0) {
    auto* table = packer.here<int32_t>();
    std::fill_n(table, sequences * pages, 0);
    for (size_t s = 0; s < sequences; ++s)
      std::copy_n(host_.page_table + s * width, width, table + s * pages);
    context_.page_table = packer.put<int32_t>(nullptr, 0, sequences * pages);
    context_.max_pages = static_cast<int64_t>(pages);
  }
  auto* recent = packer.here<int32_t>();
  const int32_t* recent_there = packer.put<int32_t>(nullptr, 0, outputs * kRecent);
  auto* requests = packer.here<kernels::Sample::Request>();
  for (size_t i = 0; i < outputs; ++i) {
    kernels::Sample::Request request = host_.sampling[i];
    const auto count = std::min(static_cast<size_t>(std::max(request.recent_count, 0)), kRecent);
    if (count > 0) std::memcpy(recent + i * kRecent, request.recent, count * sizeof(int32_t));
    request.recent = recent_there + i * kRecent;
    request.recent_count = static_cast<int32_t>(count);
    std::memcpy(requests + i, &request, sizeof(request));
  }
  context_.sampling = packer.put<kernels::Sample::Request>(nullptr, 0, outputs);
  context_.choices = reinterpret_cast<kernels::Sample::Choice*>(choices_.get());
  context_.max_length = round_up_to_power(host_.max_length, kLeastPages * 32);
  copied_ = packer.used();
  return {};
}

DeviceRunner::Key DeviceRunner::key_of(const compile::Plan& plan, bool measured) const {
  return {plan.id,
          context_.states.empty() ? nullptr : context_.states.front().base,
          context_.tokens,
          context_.sequences,
          context_.outputs,
          context_.max_pages,
          context_.max_length,
          measured};
}

void DeviceRunner::issue(const compile::Plan& plan, bool measured) {
  device_->copy(inputs_.data(), staged_.get(), copied_);
  if (!measured) {
    for (const compile::Step& step : plan.steps) step.run(context_);
    return;
  }
  while (marks_.size() < plan.steps.size() + 1) marks_.push_back(device_->make_mark());
  device_->record(*marks_[0]);
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    plan.steps[i].run(context_);
    device_->record(*marks_[i + 1]);
  }
}

/// Runs the step: as a graph where it was captured before, else once directly while it is captured for the
/// next.
void DeviceRunner::replay(const compile::Plan& plan, const Key& key) {
  if (const auto it = graphs_.find(key); it != graphs_.end()) return device_->launch(*it->second);
  issue(plan, key.measured);
  if (graphs_.size() >= kMostGraphs) graphs_.clear();
  device_->begin_capture();
  try {
    issue(plan, key.measured);
  } catch (...) {
    static_cast<void>(device_->end_capture());
    throw;
  }
  graphs_[key] = device_->end_capture();
}

void DeviceRunner::report(const compile::Plan& plan, Profiler& profiler, Phase phase) {
  times_.assign(plan.steps.size() + 1, 0);
  for (size_t i = 0; i < plan.steps.size(); ++i)
    times_[i + 1] = times_[i] + static_cast<int64_t>(device_->microseconds(*marks_[i], *marks_[i + 1]) * 1e3);
  profiler.record(plan, phase, host_, times_);
}

Result<void> DeviceRunner::run(const compile::Plan& plan, StepBatch& batch,
                               std::span<const kernels::PagedKv> states, Profiler* profiler) {
  follow_epoch();
  ORRERY_TRY(grow(arena_, plan.arena_bytes));
  ORRERY_TRY(grow(workspace_, plan.workspace_bytes));
  ORRERY_TRY(stage(batch));
  output_.clear();
  context_.states = states;
  context_.arena = arena_.data();
  context_.workspace = workspace_.data();
  context_.stream = device_->stream();
  const Phase phase = batch.is_decode() ? Phase::decode : Phase::prefill;
  const bool profiled = profiler && profiler->enabled();
  const bool measured = profiled && (phase == Phase::prefill || decodes_++ % kMeasuredEvery == 1);
  if (phase == Phase::decode) {
    replay(plan, key_of(plan, measured));
  } else {
    issue(plan, measured);
  }
  device_->wait();
  if (host_.outputs > 0)
    std::memcpy(host_.choices, choices_.get(),
                static_cast<size_t>(host_.outputs) * sizeof(kernels::Sample::Choice));
  if (measured) report(plan, *profiler, phase);
  return {};
}

const float* DeviceRunner::output(const compile::Plan& plan, size_t index) {
  if (index >= plan.output_slots.size()) return nullptr;
  const graph::Graph& graph = *plan.graph;
  const graph::ValueType& type = graph.value(graph.outputs()[index]).type;
  const auto elements = element_count(type.shape, host_.bindings());
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
