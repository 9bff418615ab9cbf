// The kept steps of a session as a Trace.
#include <fmt/format.h>

#include <map>
#include <unordered_map>

#include "engine/api/guard.h"
#include "engine/api/session_impl.h"

namespace orrery::api {
namespace {

using runtime::StepTrace;

class TraceBuilder {
 public:
  TraceBuilder(std::string title, std::string device, bool generates)
      : device_(std::move(device)), generates_(generates) {
    trace_.title = std::move(title);
  }

  void add(const StepTrace::Step& step) {
    const size_t whole = trace_.spans.size();
    add_span(track(device_, TraceTrack::Kind::steps), name(phase_name(step.phase)), step.begin, step.end,
             step);
    for (const StepTrace::HostSpan& host : step.host)
      add_span(track(device_, TraceTrack::Kind::host), name(host.what), host.begin, host.end, step);
    if (step.plan) add_nodes(step, whole);
  }

  Trace take(uint64_t forgotten) {
    trace_.forgotten_steps = forgotten;
    return std::move(trace_);
  }

 private:
  /// A plan's nodes as indices of the trace; all steps that ran the plan share them.
  struct Plan {
    struct Node {
      uint32_t name, track;
      std::vector<size_t> sources;  // earlier nodes of the plan, on other devices, that it reads from
    };
    std::vector<Node> nodes;
  };

  std::string phase_name(runtime::Phase phase) const {
    if (!generates_) return "encode";
    return phase == runtime::Phase::decode ? "decode" : "prefill";
  }

  uint32_t name(const std::string& text) {
    const auto [it, added] = names_.emplace(text, trace_.names.size());
    if (added) trace_.names.push_back({text, "", ""});
    return it->second;
  }

  uint32_t track(const std::string& device, TraceTrack::Kind kind) {
    const auto [it, added] = tracks_.emplace(std::pair(device, kind), trace_.tracks.size());
    if (added) trace_.tracks.push_back({device, kind});
    return it->second;
  }

  TraceSpan& add_span(uint32_t track, uint32_t name, int64_t begin, int64_t end,
                      const StepTrace::Step& step) {
    trace_.spans.push_back({track, name, begin, end, step.tokens, step.sequences, 0, 0});
    return trace_.spans.back();
  }

  void add_nodes(const StepTrace::Step& step, size_t whole) {
    const Plan& plan = plan_of(*step.plan);
    const size_t first = trace_.spans.size();
    double bytes = 0, flops = 0;
    for (size_t i = 0; i < plan.nodes.size(); ++i) {
      const Plan::Node& node = plan.nodes[i];
      TraceSpan& span = add_span(node.track, node.name, step.times[i].begin, step.times[i].end, step);
      const graph::Cost cost = step.plan->graph->cost(step.plan->nodes[i].node, step.bindings);
      bytes += span.bytes = cost.bytes;
      flops += span.flops = cost.flops;
      for (const size_t source : node.sources) trace_.flows.push_back({first + source, first + i});
    }
    trace_.spans[whole].bytes = bytes;
    trace_.spans[whole].flops = flops;
  }

  const Plan& plan_of(const StepTrace::Names& names) {
    const auto [it, added] = plans_.try_emplace(&names);
    if (!added) return it->second;
    std::unordered_map<NodeId, size_t> places;
    for (const StepTrace::Names::Node& node : names.nodes) {
      const graph::Node& drawn = names.graph->node(node.node);
      Plan::Node made{
          static_cast<uint32_t>(trace_.names.size()), track(node.device, TraceTrack::Kind::nodes), {}};
      trace_.names.push_back({drawn.path(), node.op, node.kernel});
      for (const ValueId input : drawn.inputs) {
        const graph::Value* value = names.graph->find_value(input);
        const auto source = value ? places.find(value->producer) : places.end();
        if (source != places.end() && names.nodes[source->second].device != node.device)
          made.sources.push_back(source->second);
      }
      places.emplace(node.node, it->second.nodes.size());
      it->second.nodes.push_back(std::move(made));
    }
    return it->second;
  }

  std::string device_;
  bool generates_;
  Trace trace_;
  std::unordered_map<std::string, uint32_t> names_;
  std::map<std::pair<std::string, TraceTrack::Kind>, uint32_t> tracks_;
  std::unordered_map<const StepTrace::Names*, Plan> plans_;
};

}  // namespace

void SessionImpl::set_tracing(bool enabled) { parts_.model->profiler.trace().set_on(enabled); }

Trace SessionImpl::trace() const {
  return guarded_or_empty([&] {
    const std::string& device = parts_.options.device;
    const StepTrace::Kept kept = parts_.model->profiler.trace().kept();
    TraceBuilder builder(fmt::format("{} on {}", parts_.info.name, device), device,
                         parts_.info.task == Task::generate);
    for (const auto& step : kept.steps) builder.add(*step);
    return builder.take(kept.forgotten);
  });
}

}  // namespace orrery::api
