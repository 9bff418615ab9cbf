// From the graph that a person edits to the one that runs: passes, then placement.
#pragma once

#include "engine/compile/placement.h"
#include "engine/runtime/model.h"

namespace orrery::api {

struct Preparation {
  bool fusion = true;
  compile::PlacementOptions placement;
};
/// How the model's graphs are prepared; `home` is its device's name.
Preparation preparation_of(const runtime::Model::Options& options, const std::string& home, bool fusion);

/// Opens the card when nodes ask for one; its own reason when it cannot be used.
Result<std::shared_ptr<const runtime::Version>> prepare_version(graph::GraphVersion model_graph,
                                                                const Preparation& preparation);

}  // namespace orrery::api
