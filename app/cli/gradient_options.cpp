#include "app/cli/gradient_options.h"

#include <sstream>

namespace orrery::cli {

void add_gradient_options(Parser& parser, GradientOptions& options) {
  const Option of = parser.add_option(
      "--grad", options.of,
      "a value of one element, NODE or NODE:OUTPUT, whose gradients are added, as grad_NAME");
  parser
      .add_option("--wrt", options.by,
                  "values that the gradients are by, commas between; without it all inputs and constants of "
                  "files that hold floats")
      .take_all()
      .needs(of);
}

Result<api::GradientGraph> graph_with_gradients(const graph::Graph& graph, const GradientOptions& options) {
  ORRERY_ASSIGN(const ValueId of, api::find_value(graph, options.of));
  std::vector<ValueId> by;
  for (const std::string& names : options.by) {
    std::istringstream words(names);
    for (std::string name; std::getline(words, name, ',');) {
      ORRERY_ASSIGN(const ValueId value, api::find_value(graph, name));
      by.push_back(value);
    }
  }
  return api::with_gradients(graph, {{of}}, by.empty() ? api::float_sources(graph) : by);
}

}  // namespace orrery::cli
