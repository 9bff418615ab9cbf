#include "engine/runtime/step_trace.h"

#include <algorithm>
#include <string_view>

namespace orrery::runtime {
namespace {

size_t spans_of(const StepTrace::Step& step) { return 1 + step.host.size() + step.times.size(); }

/// A card's clock is laid on the host's to within some microseconds: what that error would move before an
/// earlier node of its device, or out of the step, is held at its edge.
void hold_within(StepTrace::Step& step) {
  std::map<std::string_view, int64_t> ends;  // by device
  for (size_t i = 0; i < step.times.size(); ++i) {
    int64_t& last = ends.try_emplace(step.plan->nodes[i].device, step.begin).first->second;
    TimeSpan& time = step.times[i];
    time.begin = std::clamp(time.begin, last, step.end);
    time.end = last = std::clamp(time.end, time.begin, step.end);
  }
}

}  // namespace

void StepTrace::set_on(bool on) {
  const std::scoped_lock lock(mutex_);
  if (on && !this->on()) {
    steps_.clear();
    spans_ = 0;
    forgotten_ = 0;
  }
  on_.store(on, std::memory_order_relaxed);
}

StepTrace::Kept StepTrace::kept() const {
  const std::scoped_lock lock(mutex_);
  return {{steps_.begin(), steps_.end()}, forgotten_};
}

void StepTrace::begin_step() {
  running_.reset();
  if (!on()) return;
  running_ = std::make_unique<Step>();
  running_->begin = monotonic_ns();
}

void StepTrace::add_host(const char* what, int64_t begin, int64_t end) {
  if (running_) running_->host.push_back({what, begin, end});
}

void StepTrace::add_nodes(const compile::Plan& plan, const Bindings& bindings,
                          const std::vector<TimeSpan>& times) {
  if (!running_) return;
  running_->plan = names_of(plan);
  running_->bindings = bindings;
  running_->times = times;
}

void StepTrace::end_step(Phase phase, int64_t tokens, int64_t sequences) {
  if (!running_) return;
  Step& step = *running_;
  step.end = monotonic_ns();
  step.phase = phase;
  step.tokens = tokens;
  step.sequences = sequences;
  hold_within(step);
  const std::scoped_lock lock(mutex_);
  spans_ += spans_of(step);
  steps_.push_back(std::move(running_));
  while (spans_ > kMostSpans && steps_.size() > 1) {
    spans_ -= spans_of(*steps_.front());
    steps_.pop_front();
    ++forgotten_;
  }
}

HostPart::HostPart(StepTrace* trace, const char* what)
    : trace_(trace), what_(what), begin_(trace ? monotonic_ns() : 0) {}

HostPart::~HostPart() {
  if (trace_) trace_->add_host(what_, begin_, monotonic_ns());
}

std::shared_ptr<const StepTrace::Names> StepTrace::names_of(const compile::Plan& plan) {
  if (auto known = names_[plan.id].lock()) return known;
  std::erase_if(names_, [](const auto& entry) { return entry.second.expired(); });
  auto names = std::make_shared<Names>();
  names->graph = plan.graph;
  for (const compile::Step& step : plan.steps)
    names->nodes.push_back({step.node, step.op, step.kernel, to_string(step.device)});
  names_[plan.id] = names;
  return names;
}

}  // namespace orrery::runtime
