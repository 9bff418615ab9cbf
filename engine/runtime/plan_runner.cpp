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

size_t choices_bytes(const ops::StepContext& here) {
  return std::bit_ceil(std::max(static_cast<size_t>(here.outputs) * sizeof(Sample::Choice), kLeastChoices));
}

}  // namespace

PlanRunner::PlanRunner(kernels::ThreadTeam& team) : team_(team), seen_(kMostSeen), graphs_(kMostGraphs) {}

PlanRunner::~PlanRunner() = default;

size_t PlanRunner::bytes() const {
  size_t bytes = host_arena_.size() + host_workspace_.size();
  for (const auto& [id, runner] : runners_) bytes += runner->bytes();
  return bytes;
}

/// The step's parts by card.
void PlanRunner::divide(std::shared_ptr<const compile::Plan> plan) {
  const size_t count = plan->segments.size();
  started_.assign(count, false);
  ended_.assign(count, false);
  awaited_.assign(count, false);
  sides_.clear();
  for (const compile::CardUse& use : plan->cards) {
    std::unique_ptr<DeviceRunner>& runner = runners_[use.card->id()];
    if (!runner || runner->device() != use.card) {
      captures_.cancel();
      runner = std::make_unique<DeviceRunner>(use.card);
    }
    sides_[use.card->id()].runner = runner.get();
  }
  for (const compile::Segment& segment : plan->segments)
    for (const size_t before : segment.after) awaited_[before] = true;
  step_.divide(std::move(plan));
}

/// What was made before a card was renewed is gone, and with it all that was captured.
void PlanRunner::forget_renewed() {
  const weights::DevicePtr& first = sides_.begin()->second.runner->device();
  const bool renewed =
      std::ranges::any_of(sides_, [](const auto& entry) { return entry.second.runner->is_outdated(); });
  if (!renewed && locked_by_ == first) return;
  captures_.cancel();
  if (renewed) {
    graphs_.clear();
    seen_.clear();
  }
  for (auto& [id, side] : sides_)
    if (side.runner->is_outdated()) side.runner->follow_epoch();
  host_arena_ = {};
  choices_ = {};
  locked_by_ = first;
}

/// The most that one value brings to the card from others that it does not reach.
size_t PlanRunner::way_bytes(const compile::CardUse& use) const {
  if (plan().cards.size() == 1) return 0;
  size_t bytes = 0;
  for (const compile::Step& each : plan().steps) {
    if (!each.transfer || each.transfer->to != use.card->id() || each.transfer->from.is_cpu()) continue;
    const weights::DevicePtr other = weights::find_card(plan().options.cards, each.transfer->from);
    if (!use.card->reaches(*other)) bytes = std::max(bytes, each.transfer->bytes(step_.here));
  }
  return bytes;
}

/// Whether the step can be laid out without any memory being moved.
bool PlanRunner::has_room() const {
  if (!runtime::has_room(choices_, choices_bytes(step_.here))) return false;
  if (plan().segments.size() > 1 && (!runtime::has_room(host_arena_, plan().host_arena_bytes) ||
                                     !runtime::has_room(host_workspace_, plan().host_workspace_bytes)))
    return false;
  return std::ranges::all_of(plan().cards, [&](const compile::CardUse& use) {
    return sides_.at(use.card->id()).runner->has_room(use, step_.here, way_bytes(use));
  });
}

/// All sides write the sampled tokens to the same page-locked memory. What is being captured holds addresses:
/// before memory moves, that ends.
Result<void> PlanRunner::stage(StepBatch& batch, std::span<const kernels::PagedKv> states) {
  forget_renewed();
  ops::StepContext& here = step_.here;
  here = {};
  batch.fill(here);
  ORRERY_TRY(StepBatch::check_sizes(plan(), here));
  ORRERY_TRY(batch.fill_given(plan(), here));
  told_ = here.choices;
  here.states = states;
  here.team = &team_;
  if (!has_room()) captures_.cancel();
  grow(choices_, choices_bytes(here), locked_by_);
  here.choices = reinterpret_cast<Sample::Choice*>(choices_.data());
  if (plan().segments.size() > 1) {
    grow(host_arena_, plan().host_arena_bytes, locked_by_);
    ORRERY_TRY(grow(host_workspace_, plan().host_workspace_bytes));
  }
  here.arena = host_arena_.data();
  here.workspace = host_workspace_.data();
  for (const compile::CardUse& use : plan().cards) {
    LaidOutStep::Card& card = step_.cards.at(use.card->id());
    ORRERY_TRY(side_of(use.card->id()).runner->stage(use, here, way_bytes(use), card));
  }
  return {};
}

/// A step that was not seen before runs directly; a capture would cost more than it brings if it never came
/// again.
PlanRunner::How PlanRunner::how_to_run(Phase phase, const Profiler* profiler) {
  const bool profiled = profiler && profiler->enabled(), always = profiled && profiler->measures_all();
  const StepKey key = step_.key(false);
  StepKey marked_key = key;
  marked_key.measured = true;
  if (bool& seen = seen_.get(key); !seen) {
    seen = true;
    ++unsettled_;
    return {.measured = always || (profiled && phase == Phase::prefill)};
  }
  const uint64_t count = again_[static_cast<size_t>(phase)]++;
  for (CaptureQueue::Captured& captured : captures_.take())
    graphs_.get(captured.key) = std::move(captured.graphs);
  const LaidOutStep::Graphs* plain = graphs_.find(key);
  const LaidOutStep::Graphs* marked = profiled ? graphs_.find(marked_key) : nullptr;
  if (!plain || (profiled && !marked)) {
    ++unsettled_;
    if (!plain) captures_.add(step_, false);
    if (profiled && !marked) {
      prepare_marks();
      captures_.add(step_, true);
    }
  }
  How how{.measured = always || (profiled && count % kMeasuredEvery == 0)};
  how.graphs = how.measured ? marked : plain;
  if (how.graphs && how.graphs->empty()) how.graphs = nullptr;
  return how;
}

void PlanRunner::prepare_marks() {
  for (auto& [id, card] : step_.cards) card.marks = side_of(id).runner->marks(step_.marks_of(card));
}

void PlanRunner::start(size_t segment, const How& how) {
  const compile::Segment& own = plan().segments[segment];
  Side& side = side_of(own.device);
  DeviceRunner& runner = *side.runner;
  if (!side.lock.owns_lock())
    for (auto& [id, each] : sides_) {
      each.lock = std::unique_lock(each.runner->device()->stream_mutex());
      each.runner->require_epoch(step_.cards.at(id).epoch);
    }
  const HostPart part(how.trace, "launch");
  side.busy = true;
  for (const size_t before : own.after)
    if (const DeviceId device = plan().segments[before].device; !device.is_cpu())
      runner.device()->follow(side_of(device).runner->end_of(before));
  if (how.graphs)
    runner.device()->launch(*(*how.graphs)[segment]);
  else
    step_.issue(segment, how.measured);
  if (awaited_[segment]) runner.mark_end(segment);
  side.last = segment;
  side.marked = step_.first_mark[segment] + own.end - own.begin;
  started_[segment] = true;
}

/// Gives the cards all that waits for no segment of the program any more.
void PlanRunner::start_ready(const How& how) {
  std::map<DeviceId, bool> held;  // by an earlier segment that is not ready
  for (size_t i = 0; i < plan().segments.size(); ++i) {
    const compile::Segment& segment = plan().segments[i];
    if (segment.device.is_cpu() || started_[i] || held[segment.device]) continue;
    const bool ready = std::ranges::all_of(segment.after, [&](size_t before) {
      return plan().segments[before].device.is_cpu() ? ended_[before] : started_[before];
    });
    if (ready)
      start(i, how);
    else
      held[segment.device] = true;
  }
}

void PlanRunner::wait_for_all(DeviceId device, const How& how) {
  const HostPart part(how.trace, "wait");
  Side& side = side_of(device);
  side.runner->device()->wait();
  side.idle_since = monotonic_ns();
  side.busy = false;
  for (const size_t segment : step_.cards.at(device).segments)
    if (started_[segment]) ended_[segment] = true;
}

void PlanRunner::wait_for(size_t segment, const How& how) {
  if (ended_[segment]) return;
  const DeviceId device = plan().segments[segment].device;
  Side& side = side_of(device);
  if (side.last == segment) return wait_for_all(device, how);
  const HostPart part(how.trace, "wait");
  side.runner->device()->wait_for(side.runner->end_of(segment));
  for (const size_t own : step_.cards.at(device).segments)
    if (own <= segment) ended_[own] = true;
}

void PlanRunner::unlock_idle() {
  if (std::ranges::any_of(sides_, [](const auto& entry) { return entry.second.busy; })) return;
  for (auto& [id, side] : sides_)
    if (side.lock.owns_lock()) side.lock.unlock();
}

void PlanRunner::run_segments(const How& how) {
  start_ready(how);
  for (size_t i = 0; i < plan().segments.size(); ++i) {
    const compile::Segment& segment = plan().segments[i];
    if (!segment.device.is_cpu()) continue;
    for (const size_t before : segment.after) wait_for(before, how);
    unlock_idle();
    run_host_steps(plan(), segment, step_.here, how.measured ? times_.data() : nullptr);
    ended_[i] = true;
    start_ready(how);
  }
  for (const auto& [id, side] : sides_)
    if (side.busy) wait_for_all(id, how);
  if (how.measured) read_marks();
  unlock_idle();
}

/// A card's marks know only the time between them. The last one was passed just before the wait for it
/// ended, some microseconds at most, so that end is where they are tied to the clock of the program.
void PlanRunner::read_marks() {
  for (const auto& [id, side] : sides_)
    for (const size_t segment : step_.cards.at(id).segments) {
      size_t mark = step_.first_mark[segment];
      int64_t begin = side.runner->time_of(mark, side.marked, side.idle_since);
      for (size_t i = plan().segments[segment].begin; i < plan().segments[segment].end; ++i) {
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

Result<void> PlanRunner::run(std::shared_ptr<const compile::Plan> plan, StepBatch& batch,
                             std::span<const kernels::PagedKv> states, Profiler* profiler) {
  struct Ended {  // a plan lives no longer for having been run
    LaidOutStep& step;
    ~Ended() { step.plan = nullptr; }
  } const ended{step_};
  divide(std::move(plan));
  StepTrace* trace = profiler && profiler->trace().on() ? &profiler->trace() : nullptr;
  {
    const HostPart part(trace, "stage");
    ORRERY_TRY(stage(batch, states));
  }
  output_.clear();
  const Phase phase = batch.phase();
  How how = how_to_run(phase, profiler);
  how.trace = trace;
  if (how.measured) {
    times_.resize(step_.plan->steps.size());
    prepare_marks();
  }
  try {
    run_segments(how);
  } catch (...) {
    quiesce();
    throw;
  }
  const ops::StepContext& here = step_.here;
  if (here.outputs > 0)
    std::memcpy(told_, here.choices, static_cast<size_t>(here.outputs) * sizeof(Sample::Choice));
  if (how.measured) profiler->record(*step_.plan, phase, batch.without_padding(here), times_);
  return {};
}

const void* PlanRunner::output(const compile::Plan& plan, size_t index) {
  if (index >= plan.output_slots.size()) return nullptr;
  const compile::OutputSlot& output = plan.output_slots[index];
  const graph::Value& value = plan.graph->value(plan.graph->outputs()[index]);
  if (value.kind == graph::ValueKind::state) return nullptr;
  if (output.device.is_cpu()) return step_.here.address(output.slot);
  if (output_.empty() || output_index_ != index) {
    const LaidOutStep::Card& card = step_.cards.at(output.device);
    const std::scoped_lock stream(card.device->stream_mutex());
    side_of(output.device).runner->require_epoch(card.epoch);
    output_index_ = index;
    output_.resize(std::max<size_t>(compile::bytes_in(step_.here, value.type), 1));
    card.device->download(output_.data(), card.context.address(output.slot),
                          compile::bytes_in(step_.here, value.type));
  }
  return output_.data();
}

}  // namespace orrery::runtime
