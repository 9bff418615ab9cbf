#include "engine/api/diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "app/cli/common_options.h"
#include "app/cli/verbs.h"
#include "engine/api/shown_session.h"
#include "engine/api/side_times.h"
#include "engine/api/weight_distance.h"

namespace orrery::cli {
namespace {

struct DiffOptions {
  std::string a, b, recipe_a, recipe_b;
  std::vector<std::string> edits;  // of b
  bool weights = false, time = false;
};

/// How two sides differ, as far as was asked.
struct Found {
  api::GraphDifference graph;
  std::optional<api::WeightDistances> weights;
  std::optional<api::SideTimes> times;
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

/// Numbers that JSON does not have are null.
Json number_json(double value) { return std::isfinite(value) ? Json(value) : Json(); }

Json shape_json(const Shape& shape) {
  Json sizes = Json::array();
  for (const Dim& dim : shape)
    sizes.push_back(dim.is_constant() ? Json(dim.constant()) : Json(dim.to_string()));
  return sizes;
}

Json weights_json(const api::WeightDistances& all) {
  Json weights = Json::array();
  for (const api::WeightDistance& weight : all.weights) {
    const bool compared = weight.refusal.empty();
    weights.push_back({{"weight", weight.path},
                       {"a_dtype", weight.a.dtype},
                       {"b_dtype", weight.b.dtype},
                       {"a_shape", shape_json(weight.a.shape)},
                       {"b_shape", shape_json(weight.b.shape)},
                       {"a_bytes", weight.a.bytes},
                       {"b_bytes", weight.b.bytes},
                       {"relative", compared ? number_json(weight.relative) : Json()},
                       {"cosine", compared ? number_json(weight.cosine) : Json()},
                       {"max_abs", compared ? number_json(weight.max_abs) : Json()},
                       {"refusal", compared ? Json() : Json(weight.refusal)}});
  }
  return weights;
}

Json times_json(const api::SideTimes& times) {
  Json nodes = Json::array();
  for (const api::NodeComparison& node : times.nodes)
    nodes.push_back(
        {{"node", node.node}, {"a_us", node.a_us}, {"b_us", node.b_us}, {"estimated", node.estimated}});
  return {{"step_a_us", times.step_a_us}, {"step_b_us", times.step_b_us}, {"nodes", std::move(nodes)}};
}

Json found_json(const Found& found) {
  Json document = diff_json(found.graph);
  if (found.weights) {
    document["weights"] = weights_json(*found.weights);
    document["weights_only_a"] = found.weights->only_a;
    document["weights_only_b"] = found.weights->only_b;
  }
  if (found.times) document["times"] = times_json(*found.times);
  return document;
}

/// The farthest first, then what was not compared.
void print_weights(const api::WeightDistances& all) {
  constexpr size_t kShown = 25;
  std::vector<const api::WeightDistance*> order;
  size_t same = 0;
  uint64_t bytes_a = 0, bytes_b = 0;
  for (const api::WeightDistance& weight : all.weights) {
    bytes_a += weight.a.bytes;
    bytes_b += weight.b.bytes;
    const bool is_same = weight.refusal.empty() && weight.max_abs == 0;
    same += is_same;
    if (!is_same) order.push_back(&weight);
  }
  std::ranges::stable_sort(order, [](const auto* x, const auto* y) {
    return std::pair(!x->refusal.empty(), -x->relative) < std::pair(!y->refusal.empty(), -y->relative);
  });
  if (!order.empty())
    print(fmt::format("  {:>9} {:>10} {:>9}  {:<14} {:>9} {:>9}  weight\n", "relative", "cosine", "max abs",
                      "type a, b", "a", "b"));
  for (size_t i = 0; i < std::min(kShown, order.size()); ++i) {
    const api::WeightDistance& weight = *order[i];
    const std::string apart =
        weight.refusal.empty()
            ? fmt::format("{:>9.3e} {:>10.7f} {:>9.2e}", weight.relative, weight.cosine, weight.max_abs)
            : fmt::format("{:<30}", weight.refusal);
    print(fmt::format("  {}  {:<14} {:>9} {:>9}  {}\n", apart,
                      fmt::format("{}, {}", weight.a.dtype, weight.b.dtype), readable_bytes(weight.a.bytes),
                      readable_bytes(weight.b.bytes), weight.path));
  }
  if (order.size() > kShown) print(fmt::format("  and {} more (--json)\n", order.size() - kShown));
  print(fmt::format("weights: {} differ, {} the same, {} only in a, {} only in b; {} and {}\n", order.size(),
                    same, all.only_a, all.only_b, readable_bytes(bytes_a), readable_bytes(bytes_b)));
}

/// The largest gain of either side first.
void print_times(const api::SideTimes& times) {
  constexpr size_t kShown = 15;
  std::vector<const api::NodeComparison*> order;
  for (const api::NodeComparison& node : times.nodes) order.push_back(&node);
  std::ranges::stable_sort(order, std::greater(),
                           [](const auto* node) { return std::abs(node->a_us - node->b_us); });
  print(fmt::format("  {:>9} {:>9} {:>9}  node\n", "a us", "b us", "b - a"));
  for (size_t i = 0; i < std::min(kShown, order.size()); ++i)
    print(fmt::format("  {:>9.1f} {:>9.1f} {:>+9.1f}  {}\n", order[i]->a_us, order[i]->b_us,
                      order[i]->b_us - order[i]->a_us, order[i]->node));
  if (order.size() > kShown) print(fmt::format("  and {} more (--json)\n", order.size() - kShown));
  print(fmt::format("a step: a {:.2f} ms, b {:.2f} ms\n", times.step_a_us / 1e3, times.step_b_us / 1e3));
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

Result<std::shared_ptr<api::Session>> side_of(const Context& context, const std::string& model,
                                              const std::string& recipe,
                                              const std::vector<std::string>& words) {
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
  return session;
}

Result<Found> find_differences(const Context& context, const DiffOptions& given) {
  ORRERY_ASSIGN(const auto a, side_of(context, given.a, given.recipe_a, {}));
  ORRERY_ASSIGN(const auto b,
                side_of(context, given.b.empty() ? given.a : given.b, given.recipe_b, given.edits));
  Found found{api::diff(*a->model_graph(), *b->model_graph()), {}, {}};
  ProgressLine progress(context);
  if (given.weights) {
    ORRERY_ASSIGN(found.weights, api::weight_distances(*a, *b, progress.callback(), context.stop()));
  }
  if (given.time) {
    ORRERY_ASSIGN(found.times, api::side_times(*a, *b, progress.callback(), context.stop()));
  }
  return found;
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
  parser.add_flag("--weights", options->weights, "how far the weights are apart, the farthest first");
  parser.add_flag("--time", options->time, "what each node takes on either side, measured in turns");
  add_output_options(parser, context);
  return [options, &context]() -> Result<int> {
    ORRERY_ASSIGN(const Found found, find_differences(context, *options));
    if (context.json) {
      print_json(found_json(found));
      return kExitDone;
    }
    print_diff(found.graph);
    if (found.weights) print_weights(*found.weights);
    if (found.times) print_times(*found.times);
    return kExitDone;
  };
}

}  // namespace orrery::cli
