#include "engine/api/prepare_version.h"

#include <fmt/format.h>

#include "engine/api/devices.h"
#include "engine/passes/passes.h"
#include "engine/runtime/devices.h"
#include "engine/runtime/job.h"

namespace orrery::api {
namespace {

/// The card that the graph needs beside home; null when it needs none.
Result<weights::DevicePtr> open_card(const graph::Graph& graph, const std::string& home, const Watch& watch) {
  ORRERY_ASSIGN(const std::string card, compile::card_of(graph, home));
  if (card.empty() || card == home) return weights::DevicePtr();
  ORRERY_TRY(watch.stage("Opening " + card));
  ORRERY_ASSIGN(const std::optional<int> index, parse_device(card));
  Result<weights::DevicePtr> opened = runtime::open_device(index.value_or(0));
  if (opened.ok()) return opened;
  Error error = opened.error();
  for (const NodeId id : graph.order())
    if (device_of(graph.node(id)) == card && error.where.empty()) error.where = graph.node(id).path();
  return error;
}

}  // namespace

Preparation preparation_of(const runtime::Model::Options& options, const std::string& home, bool fusion) {
  Preparation preparation;
  preparation.fusion = fusion;
  preparation.placement.home = home;
  preparation.placement.kv_dtype = options.kv_dtype;
  preparation.placement.accuracy = options.accuracy;
  preparation.placement.batch_tokens = options.batch_tokens;
  preparation.placement.batch_outputs = runtime::kMaxOutputs;
  preparation.placement.threads = options.threads;
  return preparation;
}

Result<std::shared_ptr<const runtime::Version>> prepare_version(graph::GraphVersion model_graph,
                                                                const Preparation& preparation,
                                                                const Watch& watch) {
  const std::string& home = preparation.placement.home;
  passes::Options options;
  options.fusion = preparation.fusion;
  ORRERY_TRY(watch.stage("Running the passes"));
  ORRERY_ASSIGN(passes::Outcome passed,
                passes::run_passes(*compile::without_home(model_graph, home), options));
  ORRERY_ASSIGN(weights::DevicePtr card, open_card(*passed.graph, home, watch));
  ORRERY_TRY(watch.stage("Placing the nodes"));
  ORRERY_ASSIGN(compile::Placement placement, compile::place(std::move(passed.graph), preparation.placement));
  if (placement.card.empty()) card = nullptr;
  return runtime::make_version(std::move(model_graph), std::move(placement.graph), std::move(placement.moved),
                               std::move(card));
}

/// With a team of its own: the scheduler goes on serving others.
Result<void> prepare_plan(runtime::Model& model, const runtime::Version& version, const Watch& watch) {
  const weights::DevicePtr card = model.devices(version).card;
  const std::string words =
      card ? fmt::format("Uploading to {}", card->facts().name) : std::string("Preparing the kernels");
  ORRERY_TRY(watch.stage(words));
  kernels::ThreadTeam team(1);
  const auto plan =
      model.plan(version, compile::bucket_for(1, 1, 1), team, watch.stop, [&](size_t done, size_t nodes) {
        if (watch.told) watch.told(words, done, nodes);
      });
  if (!plan.ok()) return plan.error();
  return {};
}

}  // namespace orrery::api
