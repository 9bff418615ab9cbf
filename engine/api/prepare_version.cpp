#include "engine/api/prepare_version.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/api/devices.h"
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

Preparation preparation_of(const runtime::Model::Options& options, const std::string& home, bool fusion) {
  Preparation preparation;
  preparation.fusion = fusion;
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
  passes::Options options;
  options.fusion = preparation.fusion;
  ORRERY_TRY(watch.stage("Running the passes"));
  const graph::GraphVersion asked =
      compile::without_default(compile::without_home(model_graph, home), preparation.placement.precision);
  ORRERY_ASSIGN(passes::Outcome passed, passes::run_passes(*asked, options));
  ORRERY_ASSIGN(std::vector<weights::DevicePtr> cards, open_cards(*passed.graph, home, watch));
  ORRERY_TRY(watch.stage("Placing the nodes"));
  ORRERY_ASSIGN(compile::Placement placement, compile::place(std::move(passed.graph), preparation.placement));
  std::erase_if(cards, [&](const weights::DevicePtr& card) {
    return std::ranges::find(placement.cards, card->id()) == placement.cards.end();
  });
  const graph::GraphVersion numbers = compile::with_default(*model_graph, preparation.placement.precision);
  return runtime::make_version(std::move(model_graph), std::move(placement.graph), std::move(placement.moved),
                               std::move(cards), numbers);
}

/// With a team of its own: the scheduler goes on serving others.
Result<void> prepare_plan(runtime::Model& model, const runtime::Version& version, const Watch& watch) {
  const std::vector<weights::DevicePtr> cards = model.devices(version).cards;
  const std::string words = cards.empty()       ? std::string("Preparing the kernels")
                            : cards.size() == 1 ? "Uploading to " + cards[0]->facts().name
                                                : fmt::format("Uploading to {} cards", cards.size());
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
