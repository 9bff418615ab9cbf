#include <fmt/format.h>

#include "app/cli/common_options.h"
#include "app/cli/verbs.h"

namespace orrery::cli {
namespace {

struct PreviewOptions {
  api::OpenOptions open;
  std::vector<std::string> edits;
  std::string prompt;
  int64_t gen = 16;
  bool measure = false;
  std::string text;  // of --measure
};

Json to_json(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

Json to_json(const api::MeasuredChange& change) {
  return {{"kl", to_json(change.kl)},
          {"top1_agreement", to_json(change.top1_agreement)},
          {"cosine", to_json(change.cosine)},
          {"tokens", change.tokens},
          {"positions", change.positions},
          {"nll_before", to_json(change.nll_before)},
          {"nll_after", to_json(change.nll_after)},
          {"tokens_per_second_before", to_json(change.tokens_per_second_before)},
          {"tokens_per_second_after", to_json(change.tokens_per_second_after)}};
}

void print_table(const api::MeasuredChange& change) {
  if (change.cosine)
    print(fmt::format("cosine {:.6f} with now, over {} tokens\n", *change.cosine, change.tokens));
  if (change.kl)
    print(fmt::format("KL {:.3g}, the same likeliest token at {:.1f} % of {} places, over {} tokens\n",
                      *change.kl, 100 * change.top1_agreement.value_or(0), change.positions, change.tokens));
  if (change.nll_before && change.nll_after)
    print(fmt::format("NLL {:.4f} -> {:.4f} nats a token\n", *change.nll_before, *change.nll_after));
  if (change.tokens_per_second_before && change.tokens_per_second_after)
    print(fmt::format("{:.1f} -> {:.1f} tokens/s, one at a time with no context\n",
                      *change.tokens_per_second_before, *change.tokens_per_second_after));
}

Json to_json(const api::MemoryUse& use) {
  return {{"weights", use.weights}, {"kv_cache", use.kv_cache}, {"scratch", use.scratch}};
}

Json to_json(const api::Preview& preview, const graph::Graph& graph) {
  Json refusals = Json::array(), nodes = Json::array(), moved = Json::array(), memory = Json::array();
  for (const api::Refusal& refusal : preview.refusals)
    refusals.push_back(
        {{"edit", refusal.edit ? Json(*refusal.edit) : Json()}, {"reason", refusal.reason.to_string()}});
  for (const api::NodeChange& node : preview.nodes)
    nodes.push_back({{"node", node.path},
                     {"op", node.op},
                     {"change", api::name_of(node.kind)},
                     {"shape_before", node.shape_before},
                     {"shape_after", node.shape_after},
                     {"device_before", node.device_before},
                     {"device_after", node.device_after},
                     {"differences", node.differences},
                     {"drawing", node.drawing}});
  for (const api::NodePlacement& place : preview.moved) {
    const graph::Node* node = graph.find(place.node);
    moved.push_back({{"node", node ? node->path() : ""},
                     {"asked", place.asked},
                     {"device", place.device},
                     {"reason", place.reason}});
  }
  for (const api::MemoryChange& change : preview.memory)
    memory.push_back({{"device", change.device},
                      {"name", change.name},
                      {"before", to_json(change.before)},
                      {"after", to_json(change.after)}});
  const api::StepTimeChange& step = preview.step_us;
  return {{"refusals", std::move(refusals)},
          {"nodes", std::move(nodes)},
          {"moved", std::move(moved)},
          {"context_kept", preview.tokens_read_again == 0},
          {"tokens_read_again", preview.tokens_read_again},
          {"read_again_from", preview.read_again_from},
          {"memory", std::move(memory)},
          {"step_us",
           {{"before", step.before},
            {"before_measured", step.before_measured},
            {"after_estimated", step.after},
            {"unknown_nodes", step.unknown_nodes}}}};
}

std::string before_and_after(const std::string& before, const std::string& after) {
  if (before.empty() || after.empty() || before == after) return before.empty() ? after : before;
  return before + " -> " + after;
}

void print_table(const api::Preview& preview, const graph::Graph& graph) {
  for (const api::Refusal& refusal : preview.refusals)
    print(fmt::format("refused{}: {}\n", refusal.edit ? fmt::format(", edit {}", *refusal.edit + 1) : "",
                      refusal.reason.to_string()));
  if (!preview.refusals.empty()) return;
  for (const api::NodeChange& node : preview.nodes) {
    print(fmt::format("{:<8} {:<44} {:<20} {} {}\n", node.drawing ? "drawn" : api::name_of(node.kind),
                      node.path, node.op, before_and_after(node.shape_before, node.shape_after),
                      before_and_after(node.device_before, node.device_after)));
    for (const std::string& difference : node.differences) print("    " + difference + "\n");
  }
  for (const api::NodePlacement& place : preview.moved)
    if (const graph::Node* node = graph.find(place.node))
      print(fmt::format("{} runs on {}, not on {}: {}\n", node->path(), place.device, place.asked,
                        place.reason));
  print(preview.tokens_read_again == 0
            ? std::string("the context is kept\n")
            : fmt::format("{} tokens of the context are read again\n", preview.tokens_read_again));
  for (const api::MemoryChange& change : preview.memory)
    print(fmt::format("{}: about {} -> {}\n", change.device, readable_bytes(change.before.session()),
                      readable_bytes(change.after.session())));
  const api::StepTimeChange& step = preview.step_us;
  if (step.before > 0)
    print(
        fmt::format("a step: {:.2f} ms{} -> about {:.2f} ms{}\n", step.before * 1e-3,
                    step.before_measured ? "" : " by estimate", step.after * 1e-3,
                    step.unknown_nodes > 0 ? fmt::format(", {} nodes not counted", step.unknown_nodes) : ""));
}

/// What was written so far is read, and measured.
Result<void> run_prompt(const Context& context, api::Session& session, const PreviewOptions& options) {
  if (options.prompt.empty()) return {};
  api::ChatRequest request;
  request.raw = options.prompt;
  request.max_tokens = options.gen;
  request.sampling.temperature = 0;
  const auto reply = session.chat(request, {}, context.stop());
  if (!reply.ok()) return reply.error();
  return {};
}

std::string edit_usages() {
  std::string usages;
  for (const edit::Verb& verb : edit::verbs()) usages += "\n  " + edit::usage(verb);
  return usages;
}

}  // namespace

Runner prepare_preview(Parser& parser, Context& context) {
  const auto options = std::make_shared<PreviewOptions>();
  add_model_options(parser, options->open);
  parser
      .add_option("--edit", options->edits,
                  "an edit, such as bypass scope=layers.3; may be repeated. The edits:" + edit_usages())
      .required()
      .one_value()
      .take_all();
  parser.add_option("--prompt", options->prompt, "a raw prompt to run before, so that steps are measured");
  parser.add_option("--gen", options->gen, "tokens to write after the prompt").show_default();
  parser.add_flag(
      "--measure", options->measure,
      "run a text through the graph as it is and as it would be, and tell how far the answers are "
      "apart: KL and top-1 agreement, or an encoder's cosine");
  parser.add_option("--text", options->text, "of --measure; none: a paragraph of its own");
  add_output_options(parser, context);
  return [options, &context]() -> Result<int> {
    std::vector<edit::Edit> edits;
    for (const std::string& words : options->edits) {
      ORRERY_ASSIGN(edit::Edit edit, edit::parse_edit(words));
      edits.push_back(std::move(edit));
    }
    ORRERY_ASSIGN(const auto session, open_session(context, options->open));
    ORRERY_TRY(run_prompt(context, *session, *options));
    ORRERY_ASSIGN(const api::Preview preview, session->preview(edits, context.stop()));
    std::optional<api::MeasuredChange> measured;
    if (options->measure && preview.refusals.empty()) {
      ORRERY_ASSIGN(measured, session->measure(edits, options->text, context.stop()));
    }
    const graph::GraphVersion graph = session->model_graph();
    if (context.json) {
      Json json = to_json(preview, *graph);
      if (measured) json["measured"] = to_json(*measured);
      print_json(json);
    } else {
      print_table(preview, *graph);
      if (measured) print_table(*measured);
    }
    return kExitDone;
  };
}

}  // namespace orrery::cli
