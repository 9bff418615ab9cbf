#include "engine/runtime/plan_runner.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "engine/runtime/host_steps.h"

namespace orrery::runtime {
namespace {

using kernels::DeviceId;
using kernels::Sample;

constexpr size_t kMostGraphs = 64;  // steps of a person's models, buckets and phases
constexpr size_t kMostSeen = 512;
constexpr size_t kLeastChoices = 4096;  // bytes

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

/// The most that one value brings to `device` from cards that it does not reach.
size_t way_bytes(const compile::Plan& plan, kernels::Device& device, const ops::StepContext& step) {
  size_t bytes = 0;
  for (const compile::Step& each : plan.steps) {
    if (!each.transfer || each.transfer->to != device.id() || each.transfer->from.is_cpu()) continue;
    const weights::DevicePtr other = weights::find_card(plan.options.cards, each.transfer->from);
    if (!device.reaches(*other)) bytes = std::max(bytes, each.transfer->bytes(step));
  }
  return bytes;
}

}  // namespace

PlanRunner::PlanRunner(kernels::ThreadTeam& team) : team_(team), seen_(kMostSeen), graphs_(kMostGraphs) {}

PlanRunner::~PlanRunner() = default;

size_t PlanRunner::bytes() const {
  size_t bytes = host_arena_.size() + host_workspace_.size();
  for (const auto& [id, runner] : runners_) bytes += runner->bytes();
  return bytes;
}

const ops::StepContext& PlanRunner::context_of(DeviceId device) const {
  return device.is_cpu() ? here_ : sides_.at(device).runner->context();
}

/// The step's parts by card.
void PlanRunner::divide(const compile::Plan& plan) {
  const size_t count = plan.segments.size();
  started_.assign(count, false);
  ended_.assign(count, false);
  awaited_.assign(count, false);
  first_mark_.assign(count, 0);
  sides_.clear();
  for (const compile::CardUse& use : plan.cards) {
    std::unique_ptr<DeviceRunner>& runner = runners_[use.card->id()];
    if (!runner || runner->device() != use.card) runner = std::make_unique<DeviceRunner>(use.card);
    Side& side = sides_[use.card->id()];
    side.runner = runner.get();
    side.epoch = use.epoch;
  }
  std::map<DeviceId, size_t> marks;
  for (size_t i = 0; i < count; ++i) {
    const compile::Segment& segment = plan.segments[i];
    for (const size_t before : segment.after) awaited_[before] = true;
    if (segment.device.is_cpu()) continue;
    side_of(segment.device).segments.push_back(i);
    first_mark_[i] = marks[segment.device];
    marks[segment.device] += segment.end - segment.begin + 1;
  }
}

/// All sides write the sampled tokens to the same page-locked memory. What is made of pages of a card that
/// was renewed is gone, and with it all that was captured.
Result<void> PlanRunner::stage(const compile::Plan& plan, StepBatch& batch,
                               std::span<const kernels::PagedKv> states) {
  bool renewed = false;
  for (auto& [id, side] : sides_) renewed = side.runner->follow_epoch() || renewed;
  if (renewed) {
    graphs_.clear();
    seen_.clear();
  }
  const weights::DevicePtr& first = sides_.begin()->second.runner->device();
  if (renewed || locked_by_ != first) {
    host_arena_ = {};
    choices_ = {};
    locked_by_ = first;
  }
  const size_t told = static_cast<size_t>(batch.outputs()) * sizeof(Sample::Choice);
  grow(choices_, std::bit_ceil(std::max(told, kLeastChoices)), first);
  auto* choices = reinterpret_cast<Sample::Choice*>(choices_.data());
  for (const compile::CardUse& use : plan.cards) {
    DeviceRunner& runner = *side_of(use.card->id()).runner;
    ORRERY_TRY(runner.stage(use, batch, states, choices));
    if (plan.cards.size() > 1)
      if (const size_t bytes = way_bytes(plan, *use.card, runner.context()); bytes > 0)
        runner.make_way(bytes);
  }
  here_ = {};
  batch.fill(here_);
  told_ = here_.choices;
  here_.choices = choices;
  here_.states = states;
  here_.team = &team_;
  if (plan.segments.size() > 1) {
    grow(host_arena_, plan.host_arena_bytes, first);
    ORRERY_TRY(grow(host_workspace_, plan.host_workspace_bytes));
  }
  here_.arena = host_arena_.data();
  here_.workspace = host_workspace_.data();
  return {};
}

PlanRunner::Key PlanRunner::key_of(const compile::Plan& plan, bool measured) const {
  AddressHash addresses;
  addresses.add(here_.arena).add(here_.choices);
  for (const auto& [id, side] : sides_)
    for (const void* address : side.runner->addresses()) addresses.add(address);
  for (const kernels::PagedKv& state : here_.states) addresses.add(state.base).add(state.page_stride);
  const ops::StepContext& there = sides_.begin()->second.runner->context();
  return {plan.id,       addresses.value(), there.tokens,     there.sequences,
          there.outputs, there.max_pages,   there.max_length, measured};
}

/// A step that was not seen before runs directly; a capture would cost more than it brings if it never came
/// again.
PlanRunner::How PlanRunner::how_to_run(const compile::Plan& plan, Phase phase, bool profiled) {
  bool& seen = seen_.get(key_of(plan, false));
  if (!seen) {
    seen = true;
    ++unsettled_;
    return {.measured = profiled && phase == Phase::prefill};
  }
  const uint64_t count = replays_[static_cast<size_t>(phase)]++;
  return {.replayed = true, .measured = profiled && count % kMeasuredEvery == 0, .profiled = profiled};
}

void PlanRunner::copy(const compile::Step& step, Side& side) {
  const compile::Transfer& transfer = *step.transfer;
  const bool peers = !transfer.from.is_cpu() && !transfer.to.is_cpu();
  side.runner->copy(transfer, context_of(transfer.from), context_of(transfer.to),
                    peers ? side_of(transfer.from).runner->device() : nullptr);
}

void PlanRunner::issue(const compile::Plan& plan, size_t segment, bool measured) {
  const compile::Segment& own = plan.segments[segment];
  Side& side = side_of(own.device);
  DeviceRunner& runner = *side.runner;
  runner.enter();
  if (side.segments.front() == segment) runner.send_inputs();
  size_t mark = first_mark_[segment];
  if (measured) runner.record(mark);
  for (size_t i = own.begin; i < own.end; ++i) {
    const compile::Step& step = plan.steps[i];
    if (step.transfer)
      copy(step, side);
    else
      step.run(runner.context());
    if (measured) runner.record(++mark);
  }
}

kernels::DeviceGraph& PlanRunner::captured(const compile::Plan& plan, size_t segment, bool measured) {
  Graphs& graphs = graphs_.get(key_of(plan, measured));
  graphs.resize(plan.segments.size());
  auto& graph = graphs[segment];
  if (graph) return *graph;
  ++unsettled_;
  Side& side = side_of(plan.segments[segment].device);
  const weights::DevicePtr& device = side.runner->device();
  if (measured) side.runner->make_marks(first_mark_[side.segments.back()] + plan.steps.size() + 1);
  device->begin_capture();
  try {
    issue(plan, segment, measured);
  } catch (...) {
    static_cast<void>(device->end_capture());
    throw;
  }
  graph = device->end_capture();
  return *graph;
}

void PlanRunner::start(const compile::Plan& plan, size_t segment, const How& how) {
  const compile::Segment& own = plan.segments[segment];
  Side& side = side_of(own.device);
  DeviceRunner& runner = *side.runner;
  if (!side.lock.owns_lock())
    for (auto& [id, each] : sides_) {
      each.lock = std::unique_lock(each.runner->device()->stream_mutex());
      each.runner->require_epoch(each.epoch);
    }
  const HostPart part(how.trace, "launch");
  side.busy = true;
  for (const size_t before : own.after)
    if (const DeviceId device = plan.segments[before].device; !device.is_cpu())
      runner.device()->follow(side_of(device).runner->end_of(before));
  if (how.replayed) {
    if (how.profiled) captured(plan, segment, !how.measured);
    runner.device()->launch(captured(plan, segment, how.measured));
  } else {
    issue(plan, segment, how.measured);
  }
  if (awaited_[segment]) runner.mark_end(segment);
  side.last = segment;
  side.marked = first_mark_[segment] + own.end - own.begin;
  started_[segment] = true;
}

/// Gives the cards all that waits for no segment of the program any more.
void PlanRunner::start_ready(const compile::Plan& plan, const How& how) {
  std::map<DeviceId, bool> held;  // by an earlier segment that is not ready
  for (size_t i = 0; i < plan.segments.size(); ++i) {
    const compile::Segment& segment = plan.segments[i];
    if (segment.device.is_cpu() || started_[i] || held[segment.device]) continue;
    const bool ready = std::ranges::all_of(segment.after, [&](size_t before) {
      return plan.segments[before].device.is_cpu() ? ended_[before] : started_[before];
    });
    if (ready)
      start(plan, i, how);
    else
      held[segment.device] = true;
  }
}

void PlanRunner::wait_for_all(Side& side, const How& how) {
  const HostPart part(how.trace, "wait");
  side.runner->device()->wait();
  side.idle_since = monotonic_ns();
  side.busy = false;
  for (const size_t segment : side.segments)
    if (started_[segment]) ended_[segment] = true;
}

void PlanRunner::wait_for(const compile::Plan& plan, size_t segment, const How& how) {
  if (ended_[segment]) return;
  Side& side = side_of(plan.segments[segment].device);
  if (side.last == segment) return wait_for_all(side, how);
  const HostPart part(how.trace, "wait");
  side.runner->device()->wait_for(side.runner->end_of(segment));
  for (const size_t own : side.segments)
    if (own <= segment) ended_[own] = true;
}

void PlanRunner::unlock_idle() {
  if (std::ranges::any_of(sides_, [](const auto& entry) { return entry.second.busy; })) return;
  for (auto& [id, side] : sides_)
    if (side.lock.owns_lock()) side.lock.unlock();
}

void PlanRunner::run_segments(const compile::Plan& plan, const How& how) {
  start_ready(plan, how);
  for (size_t i = 0; i < plan.segments.size(); ++i) {
    const compile::Segment& segment = plan.segments[i];
    if (!segment.device.is_cpu()) continue;
    for (const size_t before : segment.after) wait_for(plan, before, how);
    unlock_idle();
    run_host_steps(plan, segment, here_, how.measured ? times_.data() : nullptr);
    ended_[i] = true;
    start_ready(plan, how);
  }
  for (auto& [id, side] : sides_)
    if (side.busy) wait_for_all(side, how);
  if (how.measured) read_marks(plan);
  unlock_idle();
}

/// A card's marks know only the time between them. The last one was passed just before the wait for it
/// ended, some microseconds at most, so that end is where they are tied to the clock of the program.
void PlanRunner::read_marks(const compile::Plan& plan) {
  for (const auto& [id, side] : sides_)
    for (const size_t segment : side.segments) {
      size_t mark = first_mark_[segment];
      int64_t begin = side.runner->time_of(mark, side.marked, side.idle_since);
      for (size_t i = plan.segments[segment].begin; i < plan.segments[segment].end; ++i) {
        const int64_t end = side.runner->time_of(++mark, side.marked, side.idle_since);
        times_[i] = {begin, end};
        begin = end;
      }
    }
}

/// After a failure: what the other cards were given reads and writes memory that may be used anew.
void PlanRunner::quiesce() noexcept {
  for (auto& [id, side] : sides_) {
    if (!side.busy) continue;
    try {
      side.runner->device()->wait();
    } catch (const std::exception&) {
      // It told its failure already, or will with its next step.
    }
    side.busy = false;
  }
  unlock_idle();
}

Result<void> PlanRunner::run(const compile::Plan& plan, StepBatch& batch,
                             std::span<const kernels::PagedKv> states, Profiler* profiler) {
  divide(plan);
  StepTrace* trace = profiler && profiler->trace().on() ? &profiler->trace() : nullptr;
  {
    const HostPart part(trace, "stage");
    ORRERY_TRY(stage(plan, batch, states));
  }
  output_.clear();
  const Phase phase = batch.phase();
  How how = how_to_run(plan, phase, profiler && profiler->enabled());
  how.trace = trace;
  if (how.measured) {
    times_.resize(plan.steps.size());
    for (auto& [id, side] : sides_)
      side.runner->make_marks(first_mark_[side.segments.back()] + plan.steps.size() + 1);
  }
  try {
    run_segments(plan, how);
  } catch (...) {
    quiesce();
    throw;
  }
  if (here_.outputs > 0)
    std::memcpy(told_, here_.choices, static_cast<size_t>(here_.outputs) * sizeof(Sample::Choice));
  if (how.measured) profiler->record(plan, phase, here_, times_);
  return {};
}

const float* PlanRunner::output(const compile::Plan& plan, size_t index) {
  if (index >= plan.output_slots.size()) return nullptr;
  const compile::OutputSlot& output = plan.output_slots[index];
  const graph::Graph& graph = *plan.graph;
  const graph::ValueType& type = graph.value(graph.outputs()[index]).type;
  const auto elements = element_count(type.shape, here_.bindings());
  if (!elements || type.dtype != DType::f32) return nullptr;
  if (output.device.is_cpu()) return here_.data<const float>(output.slot);
  if (output_.empty() || output_index_ != index) {
    const Side& side = sides_.at(output.device);
    const weights::DevicePtr& device = side.runner->device();
    const std::scoped_lock stream(device->stream_mutex());
    side.runner->require_epoch(side.epoch);
    output_index_ = index;
    output_.resize(static_cast<size_t>(std::max<int64_t>(*elements, 1)));
    device->download(output_.data(), side.runner->context().address(output.slot),
                     static_cast<size_t>(*elements) * sizeof(float));
  }
  return output_.data();
}

}  // namespace orrery::runtime
