#include "engine/api/side_times.h"

namespace orrery::api {
namespace {

constexpr int kRounds = 3;

Phase timed_phase(const Session& session) {
  return session.info().task == Task::generate ? Phase::decode : Phase::prefill;
}

/// Few tokens: what a token takes does not depend on many.
BenchOptions one_round() {
  BenchOptions options;
  options.prompt = 16;
  options.gen = 16;
  options.repeats = 1;
  return options;
}

}  // namespace

std::vector<NodeComparison> timed_nodes(const Session& a, const Session& b) {
  std::vector<NodeComparison> nodes;
  const graph::GraphVersion graph_a = a.model_graph(), graph_b = b.model_graph();
  const ProfilePtr profile_a = a.profile(timed_phase(a)), profile_b = b.profile(timed_phase(b));
  const auto add = [&](const graph::Node& node, NodeId in_a, NodeId in_b) {
    if (node.is_source()) return;
    const Measured time_a = profile_a->measured(in_a, false), time_b = profile_b->measured(in_b, false);
    if (time_a.timing.runs == 0 && time_b.timing.runs == 0) return;  // bypassed on both
    NodeComparison row{node.path(), in_a, in_b, time_a.timing.p50_us, time_b.timing.p50_us, false, {}, {}};
    row.estimated = time_a.estimated || time_b.estimated;
    nodes.push_back(std::move(row));
  };
  for (const NodeId id : graph_a->order()) {
    const graph::Node& node = graph_a->node(id);
    add(node, id, graph_b->find_path(node.path()));
  }
  for (const NodeId id : graph_b->order()) {
    const graph::Node& node = graph_b->node(id);
    if (!graph_a->find_path(node.path()).valid()) add(node, {}, id);
  }
  return nodes;
}

Result<SideTimes> side_times(Session& a, Session& b, const ProgressCallback& progress, std::stop_token stop) {
  for (Session* session : {&a, &b}) session->set_profiling(true);
  for (int round = 0; round < kRounds; ++round)
    for (Session* session : {&a, &b}) {
      if (progress) progress(session == &a ? "Timing A" : "Timing B", static_cast<uint64_t>(round), kRounds);
      if (auto done = session->bench(one_round(), {}, stop); !done.ok()) return done.error();
    }
  return SideTimes{timed_nodes(a, b), a.profile(timed_phase(a))->step.p50_us,
                   b.profile(timed_phase(b))->step.p50_us};
}

}  // namespace orrery::api
