#include "engine/api/prepare_version.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/api/devices.h"
#include "engine/own/sizes.h"
#include "engine/passes/bypassed.h"
#include "engine/passes/passes.h"
#include "engine/runtime/devices.h"
#include "engine/runtime/job.h"

namespace orrery::api {
namespace {

/// The cards that the graph needs beside home. A refusal names the first node that asks for what is not
/// there.
Result<std::vector<weights::DevicePtr>> open_cards(const graph::Graph& graph, const std::string& home,
                                                   const Watch& watch) {
  std::vector<weights::DevicePtr> cards;
  for (const kernels::DeviceId id : compile::cards_asked(graph, home)) {
    const std::string name = to_string(id);
    if (name == home) continue;
    ORRERY_TRY(watch.stage("Opening " + name));
    Result<weights::DevicePtr> opened = runtime::open_device(id.index);
    if (!opened.ok()) {
      Error error = opened.error();
      for (const NodeId node : graph.order())
        if (device_of(graph.node(node)) == name && error.where.empty()) error.where = graph.node(node).path();
      return error;
    }
    cards.push_back(std::move(opened).value());
  }
  return cards;
}

}  // namespace

compile::Options largest_step(const Preparation& preparation) {
  const compile::PlacementOptions& placement = preparation.placement;
  compile::Options options;
  options.bucket = compile::bucket_for(placement.batch_tokens, 1, 1);
  options.kv_dtype = placement.kv_dtype;
  options.precision = placement.precision;
  options.home = kernels::parse_device_id(placement.home).value_or(kernels::kCpuId);
  options.passes = preparation.passes;
  options.threads = placement.threads;
  return options;
}

Result<passes::Outcome> run_model_passes(const graph::GraphVersion& model, const Preparation& preparation) {
  const graph::GraphVersion asked = compile::without_default(
      compile::without_home(model, preparation.placement.home), preparation.placement.precision);
  return passes::run_passes(*asked, preparation.passes);
}

passes::Options passes_of(const OpenOptions& options) {
  passes::Options passes;
  passes.disabled.insert(options.disabled_passes.begin(), options.disabled_passes.end());
  passes.fusion = options.fusion;
  return passes;
}

Result<void> check_passes(const std::vector<std::string>& names) {
  std::string known;
  for (const passes::Pass& pass : passes::all_passes()) (known += known.empty() ? "" : ", ") += pass.name;
  for (const std::string& name : names)
    if (std::ranges::find(passes::all_passes(), name, &passes::Pass::name) == passes::all_passes().end())
      return Error{ErrorCode::invalid_argument, fmt::format("There is no pass \"{}\"", name.substr(0, 80)),
                   "--disable-pass", "use one of " + known};
  return {};
}

Preparation preparation_of(const runtime::Model::Options& options, const std::string& home,
                           passes::Options passes) {
  Preparation preparation;
  preparation.passes = std::move(passes);
  preparation.placement.home = home;
  preparation.placement.kv_dtype = options.kv_dtype;
  preparation.placement.precision = options.precision;
  preparation.placement.batch_tokens = options.batch_tokens;
  preparation.placement.batch_outputs = runtime::kMaxOutputs;
  preparation.placement.threads = options.threads;
  return preparation;
}

Result<std::shared_ptr<const runtime::Version>> prepare_version(graph::GraphVersion model_graph,
                                                                const Preparation& preparation,
                                                                const Watch& watch) {
  const std::string& home = preparation.placement.home;
  ORRERY_TRY(watch.stage("Running the passes"));
  ORRERY_ASSIGN(own::Sized sized, own::with_sizes(model_graph, preparation.sizes));
  model_graph = std::move(sized.graph);
  ORRERY_ASSIGN(passes::Outcome passed, run_model_passes(model_graph, preparation));
  const graph::GraphVersion numbers = compile::with_default(*model_graph, preparation.placement.precision);
  runtime::VersionParts parts;
  parts.model = model_graph;
  parts.passes = preparation.passes;
  parts.records = std::move(passed.records);
  parts.open = sized.open;
  if (parts.open) {  // no kernel can be asked
    parts.fused = std::move(passed.graph);
    return runtime::make_version(std::move(parts), numbers);
  }
  ORRERY_ASSIGN(std::vector<weights::DevicePtr> cards, open_cards(*passed.graph, home, watch));
  ORRERY_TRY(watch.stage("Placing the nodes"));
  ORRERY_ASSIGN(compile::Placement placement, compile::place(std::move(passed.graph), preparation.placement));
  std::erase_if(cards, [&](const weights::DevicePtr& card) {
    return std::ranges::find(placement.cards, card->id()) == placement.cards.end();
  });
  ORRERY_ASSIGN(const passes::Outcome largest,
                compile::graph_of_plan(placement.graph, largest_step(preparation)));
  parts.drawn = passes::with_bypassed(largest.graph, *model_graph);
  parts.fused = std::move(placement.graph);
  parts.moved = std::move(placement.moved);
  parts.cards = std::move(cards);
  return runtime::make_version(std::move(parts), numbers);
}

/// With a team of its own: the scheduler goes on serving others.
Result<void> prepare_plan(runtime::Model& model, const runtime::Version& version, const Watch& watch) {
  if (version.open) return {};
  const std::vector<weights::DevicePtr> cards = model.devices(version).cards;
  const std::string words = cards.empty()       ? std::string("Preparing the kernels")
                            : cards.size() == 1 ? "Uploading to " + cards[0]->facts().name
                                                : fmt::format("Uploading to {} cards", cards.size());
  ORRERY_TRY(watch.stage(words));
  const runtime::HeldCards held = runtime::hold(cards);
  kernels::ThreadTeam team(1);
  const auto plan =
      model.plan(version, compile::bucket_for(1, 1, 1), team, watch.stop, [&](size_t done, size_t nodes) {
        if (watch.told) watch.told(words, done, nodes);
      });
  if (!plan.ok()) return plan.error();
  return {};
}

}  // namespace orrery::api
