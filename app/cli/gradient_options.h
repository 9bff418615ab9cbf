// --grad VALUE --wrt a,b: appends the gradients of a value to its graph.
#pragma once

#include <string>
#include <vector>

#include "app/cli/parser.h"
#include "engine/api/gradients.h"

namespace orrery::cli {

struct GradientOptions {
  std::string of;               // a value of one element; empty: none
  std::vector<std::string> by;  // empty: what the graph is given, and its weights

  bool asked() const { return !of.empty(); }
};
void add_gradient_options(Parser& parser, GradientOptions& options);

/// The graph with them. They are asked for.
Result<api::GradientGraph> graph_with_gradients(const graph::Graph& graph, const GradientOptions& options);

}  // namespace orrery::cli
