#include "engine/runtime/device_runner.h"

#include <algorithm>
#include <mutex>

#include "engine/runtime/host_steps.h"

namespace orrery::runtime {
namespace {

using kernels::DeviceKind;

constexpr size_t kMostGraphs = 64;  // steps of a person's models, buckets and phases
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

bool is_mixed(const compile::Plan& plan) { return plan.segments.size() > 1; }

bool is_first_there(const compile::Plan& plan, size_t segment) {
  return std::all_of(plan.segments.begin(), plan.segments.begin() + static_cast<std::ptrdiff_t>(segment),
                     [](const compile::Segment& before) { return before.device == DeviceKind::cpu; });
}

}  // namespace

DeviceRunner::DeviceRunner(weights::DevicePtr device, kernels::ThreadTeam& team)
    : device_(std::move(device)),
      team_(team),
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
  host_arena_ = {};
  staged_.forget();
}

/// Under the stream's mutex: whoever shares the device may have renewed it since the step began.
void DeviceRunner::require_epoch(uint64_t epoch) const {
  if (device_->epoch() != epoch)
    throw kernels::DeviceError(kernels::DeviceError::Kind::lost,
                               device_->facts().name + " was started anew while a step ran on it");
}

Result<void> DeviceRunner::make_room(const compile::Plan& plan) {
  ORRERY_TRY(grow(arena_, plan.arena_bytes, device_));
  ORRERY_TRY(grow(workspace_, plan.workspace_bytes, device_));
  if (!is_mixed(plan)) return {};
  grow(host_arena_, plan.host_arena_bytes, device_);
  return grow(host_workspace_, plan.host_workspace_bytes);
}

size_t DeviceRunner::bytes() const {
  return arena_.size() + workspace_.size() + host_arena_.size() + host_workspace_.size() +
         staged_.device_bytes();
}

/// Both sides write the sampled tokens to the same page-locked memory.
void DeviceRunner::point_contexts(std::span<const kernels::PagedKv> states) {
  here_ = staged_.here();
  here_.choices = staged_.choices();
  here_.states = states;
  here_.arena = host_arena_.data();
  here_.workspace = host_workspace_.data();
  here_.team = &team_;
  there_ = staged_.there();
  there_.states = states;
  there_.arena = arena_.data();
  there_.workspace = workspace_.data();
  there_.stream = device_->stream();
}

DeviceRunner::Key DeviceRunner::key_of(const compile::Plan& plan, bool measured) const {
  AddressHash addresses;
  addresses.add(there_.arena).add(there_.workspace).add(there_.choices).add(here_.arena);
  addresses.add(staged_.source()).add(staged_.target());
  for (const kernels::PagedKv& state : there_.states) addresses.add(state.base).add(state.page_stride);
  return {plan.id,        addresses.value(), there_.tokens,     there_.sequences,
          there_.outputs, there_.max_pages,  there_.max_length, measured};
}

/// A step that was not seen before runs directly; a capture would cost more than it brings if it never came
/// again.
DeviceRunner::How DeviceRunner::how_to_run(const compile::Plan& plan, Phase phase, bool profiled) {
  bool& seen = seen_.get(key_of(plan, false));
  if (!seen) {
    seen = true;
    ++unsettled_;
    return {.measured = profiled && phase == Phase::prefill};
  }
  const uint64_t count = replays_[static_cast<size_t>(phase)]++;
  return {.replayed = true, .measured = profiled && count % kMeasuredEvery == 0, .profiled = profiled};
}

void DeviceRunner::copy(const compile::Step& step) {
  const bool to_host = step.device == DeviceKind::cpu;
  const ops::StepContext &from = to_host ? there_ : here_, &to = to_host ? here_ : there_;
  device_->copy(to.data<std::byte>(step.transfer->dst), from.address(step.transfer->src),
                step.transfer->bytes(here_));
}

void DeviceRunner::issue(const compile::Plan& plan, size_t segment, bool measured) {
  const auto [begin, end, device] = plan.segments[segment];
  if (is_first_there(plan, segment)) staged_.send();
  if (measured && begin == 0) device_->record(*marks_[0]);
  for (size_t i = begin; i < end; ++i) {
    const compile::Step& step = plan.steps[i];
    if (step.transfer)
      copy(step);
    else
      step.run(there_);
    if (measured) device_->record(*marks_[i + 1]);
  }
}

kernels::DeviceGraph& DeviceRunner::captured(const compile::Plan& plan, size_t segment, bool measured) {
  Graphs& graphs = graphs_.get(key_of(plan, measured));
  graphs.resize(plan.segments.size());
  auto& graph = graphs[segment];
  if (graph) return *graph;
  ++unsettled_;
  if (measured) make_marks(plan);
  device_->begin_capture();
  try {
    issue(plan, segment, measured);
  } catch (...) {
    static_cast<void>(device_->end_capture());
    throw;
  }
  graph = device_->end_capture();
  return *graph;
}

void DeviceRunner::make_marks(const compile::Plan& plan) {
  while (marks_.size() < plan.steps.size() + 1) marks_.push_back(device_->make_mark());
}

/// The card's marks know only the time between them. The last one was passed just before the wait for it
/// ended, some microseconds at most, so that end is where they are tied to the clock of the program.
void DeviceRunner::read_marks(const compile::Segment& segment) {
  const int64_t end = monotonic_ns();
  const size_t first = segment.begin == 0 ? 0 : segment.begin + 1;
  for (size_t i = first; i <= segment.end; ++i)
    times_[i] = end - static_cast<int64_t>(device_->microseconds(*marks_[i], *marks_[segment.end]) * 1e3);
}

void DeviceRunner::run_there(const compile::Plan& plan, size_t segment, const How& how) {
  const std::scoped_lock stream(device_->stream_mutex());
  require_epoch(plan.epoch);
  require_epoch(epoch_);
  {
    const HostPart part(how.trace, "launch");
    if (how.replayed) {
      if (how.profiled) captured(plan, segment, !how.measured);
      device_->launch(captured(plan, segment, how.measured));
    } else {
      issue(plan, segment, how.measured);
    }
  }
  {
    const HostPart part(how.trace, "wait");
    device_->wait();
  }
  if (how.measured) read_marks(plan.segments[segment]);
}

Result<void> DeviceRunner::run(const compile::Plan& plan, StepBatch& batch,
                               std::span<const kernels::PagedKv> states, Profiler* profiler) {
  follow_epoch();
  ORRERY_TRY(make_room(plan));
  StepTrace* trace = profiler && profiler->trace().on() ? &profiler->trace() : nullptr;
  {
    const HostPart part(trace, "stage");
    ORRERY_TRY(staged_.stage(batch));
  }
  output_.clear();
  point_contexts(states);
  const Phase phase = batch.phase();
  How how = how_to_run(plan, phase, profiler && profiler->enabled());
  how.trace = trace;
  if (how.measured) times_.resize(plan.steps.size() + 1);
  if (how.measured) make_marks(plan);
  for (size_t i = 0; i < plan.segments.size(); ++i) {
    if (plan.segments[i].device == DeviceKind::cpu)
      run_host_steps(plan, plan.segments[i], here_, how.measured ? times_.data() : nullptr);
    else
      run_there(plan, i, how);
  }
  staged_.collect();
  if (how.measured) profiler->record(plan, phase, staged_.here(), times_);
  return {};
}

const float* DeviceRunner::output(const compile::Plan& plan, size_t index) {
  if (index >= plan.output_slots.size()) return nullptr;
  const compile::OutputSlot& output = plan.output_slots[index];
  const graph::Graph& graph = *plan.graph;
  const graph::ValueType& type = graph.value(graph.outputs()[index]).type;
  const auto elements = element_count(type.shape, here_.bindings());
  if (!elements || type.dtype != DType::f32) return nullptr;
  if (output.device == DeviceKind::cpu) return here_.data<const float>(output.slot);
  if (output_.empty() || output_index_ != index) {
    const std::scoped_lock stream(device_->stream_mutex());
    require_epoch(epoch_);
    output_index_ = index;
    output_.resize(static_cast<size_t>(std::max<int64_t>(*elements, 1)));
    device_->download(output_.data(), there_.address(output.slot),
                      static_cast<size_t>(*elements) * sizeof(float));
  }
  return output_.data();
}

}  // namespace orrery::runtime
