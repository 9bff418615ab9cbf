#include "engine/api/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "app/cli/common_options.h"
#include "app/cli/verbs.h"

namespace orrery::cli {
namespace {

struct CompareOptions {
  api::OpenOptions open;
  std::string a, b, prompt, patch_nodes;
  bool raw = false, patch = false;
  int64_t gen = 48;
};

Json to_json(const api::NodeComparison& node) {
  Json row = {{"node", node.node}, {"a_us", node.a_us}, {"b_us", node.b_us}};
  row["max_abs"] = node.difference ? Json(node.difference->max_abs) : Json();
  row["nmse"] = node.difference ? Json(node.difference->nmse) : Json();
  row["cosine"] = node.difference ? Json(node.difference->cosine) : Json();
  row["gone"] = node.gone ? Json(*node.gone) : Json();
  return row;
}

Json to_json(const api::CompareResult& result) {
  Json nodes = Json::array();
  for (const api::NodeComparison& node : result.nodes) nodes.push_back(to_json(node));
  const auto or_null = [](const auto& value) { return value ? Json(*value) : Json(); };
  return {{"nodes", std::move(nodes)},
          {"first_divergent", result.first_divergent.empty() ? Json() : Json(result.first_divergent)},
          {"kl", or_null(result.kl)},
          {"top1_agreement", or_null(result.top1_agreement)},
          {"positions", result.positions},
          {"patched_kl", or_null(result.patched_kl)},
          {"patched", !result.patched_kl      ? Json()
                      : result.patched_stream ? Json("stream")
                                              : Json("nodes")},
          {"first_different_token",
           result.first_different_token < 0 ? Json() : Json(result.first_different_token)},
          {"text_a", result.a.text},
          {"text_b", result.b.text},
          {"total_a_ms", result.total_a_ms},
          {"total_b_ms", result.total_b_ms}};
}

std::string ratio_of(double a, double b) { return b > 0 ? fmt::format("{:.2f}", a / b) : std::string("-"); }

void print_node(const api::NodeComparison& node) {
  const std::string apart = node.difference ? fmt::format("{:9.2e} {:9.2e} {:.6f}", node.difference->max_abs,
                                                          node.difference->nmse, node.difference->cosine)
                                            : std::string("-");
  print(fmt::format("  {:>9.1f} {:>9.1f} {:>7}  {:<28} {}\n", node.a_us, node.b_us,
                    ratio_of(node.a_us, node.b_us), apart, node.node));
}

void print_table(const api::CompareResult& result) {
  constexpr size_t kShown = 25;
  std::vector<api::NodeComparison> nodes = result.nodes;
  std::stable_sort(nodes.begin(), nodes.end(),
                   [](const auto& x, const auto& y) { return x.a_us - x.b_us > y.a_us - y.b_us; });
  print(fmt::format("  {:>9} {:>9} {:>7}  {:<28} node, by gain\n", "a us", "b us", "a/b",
                    "max abs   nmse      cosine"));
  for (size_t i = 0; i < std::min(kShown, nodes.size()); ++i) print_node(nodes[i]);
  if (nodes.size() > kShown) print(fmt::format("  and {} more (--json)\n", nodes.size() - kShown));
  print(fmt::format("a {:.1f} ms, b {:.1f} ms, ratio {}\n", result.total_a_ms, result.total_b_ms,
                    ratio_of(result.total_a_ms, result.total_b_ms)));
  if (result.kl)
    print(fmt::format("KL {:.3e} nats, the same likeliest token at {:.1f} % of {} positions\n", *result.kl,
                      100 * *result.top1_agreement, result.positions));
  if (!result.a.text.empty())
    print(result.first_different_token < 0
              ? std::string("the replies are the same\n")
              : fmt::format("the replies part at token {}\n", result.first_different_token + 1));
  print(result.first_divergent.empty()
            ? std::string("no node differs noticeably\n")
            : fmt::format("first node that differs: {}\n", result.first_divergent));
}

/// Nodes by how much of the difference goes away.
void print_patched_nodes(const api::CompareResult& result) {
  constexpr size_t kShown = 40;
  std::vector<const api::NodeComparison*> nodes;
  for (const api::NodeComparison& node : result.nodes)
    if (node.gone) nodes.push_back(&node);
  std::ranges::stable_sort(nodes, std::greater(), [](const auto* node) { return *node->gone; });
  for (size_t i = 0; i < std::min(kShown, nodes.size()); ++i)
    print(fmt::format("  {:>7.1f} %  {}\n", 100 * *nodes[i]->gone, nodes[i]->node));
  if (nodes.size() > kShown) print(fmt::format("  and {} more (--json)\n", nodes.size() - kShown));
}

/// The stream, in order: what is left of the difference with A's value there, and where the most goes away.
void print_patched(const api::CompareResult& result) {
  if (!result.patched_kl) return;
  print(fmt::format("with a value of a in b, of KL {:.3e} goes away:\n", *result.patched_kl));
  if (!result.patched_stream) return print_patched_nodes(result);
  double before = 0;
  for (const api::NodeComparison& node : result.nodes) {
    if (!node.gone) continue;
    print(fmt::format("  {:>7.1f} % {:>+7.1f}  {}\n", 100 * *node.gone, 100 * (*node.gone - before),
                      node.node));
    before = *node.gone;
  }
}

Result<int> run(const CompareOptions& options, const Context& context) {
  ORRERY_ASSIGN(const api::OpenOptions side_a, api::with_spec(options.open, options.a));
  ORRERY_ASSIGN(const api::OpenOptions side_b, api::with_spec(options.open, options.b));
  ORRERY_ASSIGN(const auto a, open_session(context, side_a));
  ORRERY_ASSIGN(const auto b, open_session(context, side_b));
  api::CompareRequest request;
  if (options.raw || a->info().task != api::Task::generate) {
    request.raw = options.prompt;
  } else {
    request.messages = {{"user", options.prompt}};
  }
  request.max_tokens = options.gen;
  request.patch = options.patch || !options.patch_nodes.empty();
  request.patch_places.nodes = options.patch_nodes;
  ProgressLine progress(context);
  ORRERY_ASSIGN(const api::CompareResult result,
                api::compare(*a, *b, request, {}, progress.callback(), context.stop()));
  progress.clear();
  if (request.patch && !result.patched_kl)
    note(context, "nothing was patched: values are put only into models that write text");
  if (context.json) {
    print_json(to_json(result));
  } else {
    print_table(result);
    print_patched(result);
  }
  return kExitDone;
}

}  // namespace

Runner prepare_compare(Parser& parser, Context& context) {
  const auto options = std::make_shared<CompareOptions>();
  add_model_options(parser, options->open);
  const char* spec =
      "a side: comma list of device=, model=, recipe=, fusion=on|off, disable-pass=, adapter=, threads=, "
      "precision=balanced|exact|bf16|int16|int8, "
      "kv-type=, context=; what is left out is as given for both";
  parser.add_option("--a", options->a, spec).required();
  parser.add_option("--b", options->b, spec).required();
  parser.add_option("--prompt", options->prompt, "what both read").required();
  parser.add_flag("--raw", options->raw, "no chat template");
  parser.add_flag(
      "--patch", options->patch,
      "values of a are put into b, one node of the stream after another: where the difference comes "
      "from");
  parser.add_option(
      "--patch-nodes", options->patch_nodes,
      "into these nodes instead, one at a time: scopes and nodes as layers.*.mlp, * for all; the "
      "first 64 tokens are read");
  parser.add_option("--gen", options->gen, "tokens that each side writes")
      .range(1, int64_t{1} << 16)
      .show_default();
  add_output_options(parser, context);
  return [options, &context] { return run(*options, context); };
}

}  // namespace orrery::cli
