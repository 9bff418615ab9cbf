// From the graph that a person edits to the one that runs: passes, then placement.
#pragma once

#include "engine/api/types.h"
#include "engine/base/progress.h"
#include "engine/compile/placement.h"
#include "engine/passes/passes.h"
#include "engine/runtime/model.h"

namespace orrery::api {

struct Preparation {
  passes::Options passes;
  compile::PlacementOptions placement;
  /// Of a graph of one's own, of its inputs. Where they leave some size open, the version is (Version::open).
  Bindings sizes = {};
};
/// How the model's graphs are prepared; `home` is its device's name.
Preparation preparation_of(const runtime::Model::Options& options, const std::string& home,
                           passes::Options passes);
/// The passes of a model that is opened so.
passes::Options passes_of(const OpenOptions& options);
/// Refuses a name that no pass has, with those that there are.
Result<void> check_passes(const std::vector<std::string>& names);

/// The passes of the model's stage over a graph with all its sizes, as the version is prepared.
Result<passes::Outcome> run_model_passes(const graph::GraphVersion& model, const Preparation& preparation);
/// What the largest step of a prompt or a text asks the rows for, as far as it is known before anything is
/// opened.
compile::Options largest_step(const Preparation& preparation);
/// Opens the cards that nodes ask for; its own reason when it cannot be used. Reads no weight. The model
/// graph of the version has the sizes.
Result<std::shared_ptr<const runtime::Version>> prepare_version(graph::GraphVersion model_graph,
                                                                const Preparation& preparation,
                                                                const Watch& watch = {});
/// Compiles what every step after the first prompt runs, so that a version that cannot run is refused before
/// anybody adopts it; on a card its weights go up. Nothing of an open one.
Result<void> prepare_plan(runtime::Model& model, const runtime::Version& version, const Watch& watch);

}  // namespace orrery::api
