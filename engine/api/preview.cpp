#include "engine/api/preview.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "engine/api/devices.h"
#include "engine/api/guard.h"
#include "engine/api/placement_report.h"
#include "engine/api/preview_cost.h"
#include "engine/api/session_impl.h"
#include "engine/compile/states.h"
#include "engine/own/sizes.h"

namespace orrery::api {
namespace {

ValueId input_at(const graph::Node& node, size_t input) {
  return input < node.inputs.size() ? node.inputs[input] : ValueId{};
}

/// A version's model graph, and where its nodes run.
struct Drawn {
  const graph::Graph& graph;
  std::unordered_set<NodeId> live;
  std::unordered_map<NodeId, std::string> devices;

  Drawn(const runtime::Version& version, const std::string& home) : graph(*version.model) {
    const std::vector<bool> alive = graph.live();
    for (size_t i = 0; i < alive.size(); ++i)
      if (alive[i] && !graph.node(graph.order()[i]).is_source()) live.insert(graph.order()[i]);
    for (NodePlacement& place : placements_of(version, home))
      devices.emplace(place.node, std::move(place.device));
  }

  std::string device(NodeId node) const {
    const auto it = devices.find(node);
    return it == devices.end() ? std::string() : it->second;
  }
  std::string shape(const graph::Node& node) const {
    if (node.outputs.empty()) return {};
    const graph::ValueType& type = graph.value(node.outputs.front()).type;
    return fmt::format("{}{}", orrery::name_of(type.dtype), to_string(type.shape));
  }
  std::string reads(const graph::Node& node, size_t input) const {
    const ValueId value = input_at(node, input);
    return value.valid() ? graph.value_path(value) : "nothing";
  }
};

std::string value_of(const graph::Node& node, std::string_view attribute) {
  const auto it = node.attributes.find(attribute);
  return it == node.attributes.end() ? "none" : graph::to_string(it->second);
}

/// "top_k 40 -> 20", "reads layers.2.mlp_residual:dst, not layers.3.mlp_residual:dst".
std::vector<std::string> differences(const Drawn& before, const graph::Node& was, const Drawn& after,
                                     const graph::Node& is) {
  std::vector<std::string> words;
  graph::Attributes names = was.attributes;
  names.insert(is.attributes.begin(), is.attributes.end());
  for (const auto& [name, value] : names)
    if (name != graph::kDeviceAttribute && !graph::is_drawing_attribute(name) &&
        value_of(was, name) != value_of(is, name))
      words.push_back(fmt::format("{} {} -> {}", name, value_of(was, name), value_of(is, name)));
  for (size_t i = 0; i < std::max(was.inputs.size(), is.inputs.size()); ++i)
    if (input_at(is, i) != input_at(was, i))
      words.push_back(fmt::format("reads {}, not {}", after.reads(is, i), before.reads(was, i)));
  return words;
}

/// What is drawn otherwise: "note none -> look here", "layers.3.mlp.gate -> layers.3.mlp.product".
std::vector<std::string> drawn_differences(const graph::Node& was, const graph::Node& is) {
  std::vector<std::string> words;
  for (const std::string_view name : {graph::kFrameAttribute, graph::kNoteAttribute})
    if (const std::string before = value_of(was, name), after = value_of(is, name); before != after)
      words.push_back(fmt::format("{} {} -> {}", name, before, after));
  if (was.path() != is.path()) words.push_back(fmt::format("{} -> {}", was.path(), is.path()));
  return words;
}

std::vector<NodeChange> node_changes(const Drawn& before, const Drawn& after) {
  std::vector<NodeChange> changes;
  const auto removed = [&](const graph::Node& was) {
    changes.push_back({NodeChange::Kind::removed,
                       was.id,
                       was.path(),
                       std::string(was.op->name),
                       before.shape(was),
                       "",
                       before.device(was.id),
                       "",
                       {}});
  };
  for (const NodeId id : after.graph.order()) {
    const graph::Node& is = after.graph.node(id);
    const bool was_live = before.live.contains(id), is_live = after.live.contains(id);
    if (was_live && !is_live) removed(before.graph.node(id));
    if (!is_live) continue;
    NodeChange change{was_live ? NodeChange::Kind::changed : NodeChange::Kind::added,
                      id,
                      is.path(),
                      std::string(is.op->name),
                      "",
                      after.shape(is),
                      "",
                      after.device(id),
                      {}};
    if (was_live) {
      const graph::Node& was = before.graph.node(id);
      change.shape_before = before.shape(was);
      change.device_before = before.device(id);
      change.differences = differences(before, was, after, is);
      const std::vector<std::string> drawn = drawn_differences(was, is);
      change.drawing = change.differences.empty() && change.shape_before == change.shape_after &&
                       change.device_before == change.device_after;
      if (change.drawing && drawn.empty()) continue;
      change.differences.insert(change.differences.end(), drawn.begin(), drawn.end());
    }
    changes.push_back(std::move(change));
  }
  for (const NodeId id : before.graph.order())
    if (before.live.contains(id) && !after.graph.find(id)) removed(before.graph.node(id));
  return changes;
}

/// The first state, in the order of the graph, of which the old version has no equal.
Result<void> tell_first_state(Preview& preview, const runtime::Version& before,
                              const runtime::Version& after) {
  ORRERY_ASSIGN(const std::vector<compile::StateUse> states, compile::states_of(*after.fused));
  for (size_t i = 0; i < states.size() && i < after.states.size(); ++i) {
    if (std::ranges::find(before.states, after.states[i].hash, &runtime::StateLayout::hash) !=
        before.states.end())
      continue;
    preview.read_again_from = after.fused->node(states[i].source).path();
    preview.states_before = i;
    break;
  }
  return {};
}

}  // namespace

std::string_view name_of(NodeChange::Kind kind) {
  switch (kind) {
    case NodeChange::Kind::added:
      return "added";
    case NodeChange::Kind::removed:
      return "removed";
    case NodeChange::Kind::changed:
      return "changed";
  }
  return "";
}

Result<Preview> SessionImpl::preview(const std::vector<edit::Edit>& edits, std::stop_token stop) const {
  return guarded([&]() -> Result<Preview> {
    const SessionStatePtr now = state();
    Preview preview;
    for (edit::Misfit& misfit : edit::misfits(*now->model, edits))
      preview.refusals.push_back({misfit.index, std::move(misfit.error)});
    if (!preview.refusals.empty()) return preview;
    ORRERY_ASSIGN(const Replayed made, replayed(now->model, edits));
    if (const auto results = check_results_of(*now, *made.graph); !results.ok()) {
      preview.refusals.push_back({std::nullopt, results.error()});
      return preview;
    }
    const auto refused = [&](const Error& error) -> Result<Preview> {
      if (error.code == ErrorCode::cancelled) return error;
      preview.refusals.push_back({std::nullopt, error});
      return std::move(preview);
    };
    Preparation as_now = preparation(now->fusion, now->disabled_passes);
    if (own::with_sizes(made.graph, now->sizes).ok()) as_now.sizes = now->sizes;
    const auto version = prepare_version(made.graph, as_now, {{}, std::move(stop)});
    if (!version.ok()) return refused(version.error());
    const runtime::Version &before = *now->version, &after = **version;
    const std::string& home = parts_.options.device;
    preview.nodes = node_changes(Drawn(before, home), Drawn(after, home));
    if (before.open || after.open) return preview;  // nothing is known of what it takes
    const auto memory = memory_of(*parts_.model, after, parts_.info.task, parts_.options);
    if (!memory.ok()) return refused(memory.error());
    ORRERY_ASSIGN(const auto memory_now, memory_of(*parts_.model, before, parts_.info.task, parts_.options));
    preview.memory = memory_changes(memory_now, *memory);
    preview.moved = placements_of(after, home);
    std::erase_if(preview.moved, [](const NodePlacement& place) { return place.reason.empty(); });
    preview.tokens_read_again = parts_.model->tokens_read_again(after, *chat_sequence());
    if (preview.tokens_read_again > 0) ORRERY_TRY(tell_first_state(preview, before, after));
    ProfilePtr measured = profile(parts_.info.task == Task::generate ? Phase::decode : Phase::prefill);
    if (measured->fused_graph != before.fused) measured = std::make_shared<const Profile>();
    ORRERY_ASSIGN(preview.step_us,
                  step_time(before, after, *measured, context_used(), [this](const weights::DevicePtr& card) {
                    return card ? limits_of(card->facts()) : limits();
                  }));
    return preview;
  });
}

Result<StepTimeChange> SessionImpl::step_time(const runtime::Version& before, const runtime::Version& after,
                                              const Profile& measured, int64_t context,
                                              const LimitsOf& limits) const {
  const auto limits_on = [&](const runtime::Version& version) {
    DeviceLimits by_device{{"", limits(nullptr)}};
    for (const weights::DevicePtr& card : version.cards)
      by_device.emplace(to_string(card->id()), limits(card));
    return by_device;
  };
  const DeviceLimits limits_before = limits_on(before), limits_after = limits_on(after);
  const compile::Bucket bucket = compile::bucket_for(measured.tokens, 1, 1);
  const runtime::Model& model = *parts_.model;
  ORRERY_ASSIGN(const passes::Outcome ran,
                compile::graph_of_plan(before.fused, model.plan_options(before, bucket)));
  ORRERY_ASSIGN(const passes::Outcome runs,
                compile::graph_of_plan(after.fused, model.plan_options(after, bucket)));
  return step_time_change({*ran.graph, limits_before}, {*runs.graph, limits_after}, measured, context,
                          model.options().kv_dtype);
}

}  // namespace orrery::api
