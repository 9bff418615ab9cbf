#include "engine/api/diff.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/cli/common_options.h"
#include "app/cli/verbs.h"
#include "engine/api/shown_session.h"

namespace orrery::cli {
namespace {

struct DiffOptions {
  std::string a, b, recipe_a, recipe_b;
  std::vector<std::string> edits;  // of b
};

using Kind = api::NodeChange::Kind;

Json nodes_json(const api::GraphDifference& difference, Kind kind) {
  Json nodes = Json::array();
  for (const api::NodeDifference& node : difference.nodes)
    if (node.kind == kind) nodes.push_back({{"node", node.path}, {"op", node.op}});
  return nodes;
}

Json diff_json(const api::GraphDifference& difference) {
  Json changed = Json::array();
  for (const api::NodeDifference& node : difference.nodes)
    for (const api::NodeDifference::What& what : node.what)
      changed.push_back({{"node", node.path}, {"what", what.what}, {"a", what.a}, {"b", what.b}});
  return {{"added", nodes_json(difference, Kind::added)},
          {"removed", nodes_json(difference, Kind::removed)},
          {"changed", std::move(changed)},
          {"same", difference.same}};
}

std::string or_none(const std::string& text) { return text.empty() ? "none" : text; }

void print_diff(const api::GraphDifference& difference) {
  size_t counts[3] = {};
  for (const api::NodeDifference& node : difference.nodes) {
    ++counts[static_cast<size_t>(node.kind)];
    print(fmt::format("{:<8} {:<48} {}\n", api::name_of(node.kind), node.path, node.op));
    for (const api::NodeDifference::What& what : node.what)
      print(fmt::format("    {}: {} -> {}\n", what.what, or_none(what.a), or_none(what.b)));
  }
  print(fmt::format("{} added, {} removed, {} changed, {} the same\n", counts[size_t(Kind::added)],
                    counts[size_t(Kind::removed)], counts[size_t(Kind::changed)], difference.same));
}

Result<graph::GraphVersion> graph_of(const Context& context, const std::string& model,
                                     const std::string& recipe, const std::vector<std::string>& words) {
  api::OpenOptions open;
  open.model = model;
  open.recipe = recipe;
  ProgressLine progress(context);
  ORRERY_ASSIGN(const auto session, api::open_or_show(open, progress.callback(), context.stop()));
  std::vector<edit::Edit> edits;
  for (const std::string& each : words) {
    ORRERY_ASSIGN(edit::Edit edit, edit::parse_edit(each));
    edits.push_back(std::move(edit));
  }
  ORRERY_TRY(session->replay(std::move(edits), {{}, context.stop()}));
  return session->model_graph();
}

}  // namespace

Runner prepare_diff(Parser& parser, Context& context) {
  const auto options = std::make_shared<DiffOptions>();
  add_model_name(parser, options->a);
  parser.add_option("MODEL_B", options->b, "what it is compared with; none: the same model, as it is edited");
  parser.add_option("--recipe-a", options->recipe_a, "edits of the first one, FILE.json");
  parser.add_option("--recipe-b", options->recipe_b, "edits of the second one, FILE.json");
  parser.add_option("--edit", options->edits, "an edit of the second one, after its recipe; may be repeated")
      .one_value()
      .take_all();
  add_output_options(parser, context);
  return [options, &context]() -> Result<int> {
    const DiffOptions& given = *options;
    ORRERY_ASSIGN(const graph::GraphVersion a, graph_of(context, given.a, given.recipe_a, {}));
    ORRERY_ASSIGN(const graph::GraphVersion b,
                  graph_of(context, given.b.empty() ? given.a : given.b, given.recipe_b, given.edits));
    const api::GraphDifference difference = api::diff(*a, *b);
    if (context.json) {
      print_json(diff_json(difference));
    } else {
      print_diff(difference);
    }
    return kExitDone;
  };
}

}  // namespace orrery::cli
