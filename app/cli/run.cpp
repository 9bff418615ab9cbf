#include <fmt/format.h>

#include "app/cli/arrays.h"
#include "app/cli/common_options.h"
#include "app/cli/gradient_options.h"
#include "app/cli/verbs.h"
#include "engine/api/array_text.h"
#include "engine/api/own_inputs.h"

namespace orrery::cli {
namespace {

struct RunOptions {
  ArrayOptions arrays;
  bool all = false;
  GradientOptions gradients;
};

/// A value as a graph's file calls it: its node, and its output where there are several.
std::string name_of(const graph::Graph& graph, const api::RunValue& value) {
  const graph::Node& maker = graph.node(graph.value(value.value).producer);
  return maker.outputs.size() == 1 ? maker.path() : value.path;
}

/// What the nodes make, but for the outputs, which are told anyway.
std::vector<ValueId> all_values(const graph::Graph& graph) {
  std::vector<ValueId> values;
  for (const NodeId id : graph.order()) {
    const graph::Node& node = graph.node(id);
    if (node.is_source()) continue;
    for (const ValueId output : node.outputs)
      if (std::ranges::find(graph.outputs(), output) == graph.outputs().end()) values.push_back(output);
  }
  return values;
}

/// Of a file, or typed: "1, 2; 3, 4", "random 7". An input that is not there is refused by the run.
Result<api::Array> array_for(const graph::Graph& graph, const std::string& name, const std::string& words) {
  ORRERY_ASSIGN(const std::vector<api::GraphInput> asked, api::inputs_of(graph));
  const auto input = std::ranges::find(asked, name, &api::GraphInput::name);
  if (words.ends_with(".npy") || input == asked.end()) return api::array_in(words);
  Result<api::Array> array = api::array_in(words, input->type);
  return array.ok() ? std::move(array) : placed(std::move(array).error(), name, "");
}

std::vector<Told> told(const graph::Graph& graph, const std::vector<api::RunValue>& values) {
  std::vector<Told> rows;
  for (const api::RunValue& value : values) rows.push_back({name_of(graph, value), "", &value.array});
  return rows;
}

/// A session of the graph, and the names of the gradients, which follow its own outputs.
struct Opened {
  std::shared_ptr<api::Session> session;
  std::vector<std::string> gradients;
};
Result<Opened> open(const RunOptions& options) {
  Opened opened;
  ORRERY_ASSIGN(opened.session, api::open_graph_file(options.arrays.open));
  if (!options.gradients.asked()) return opened;
  const graph::GraphVersion graph = opened.session->model_graph();
  ORRERY_ASSIGN(api::GradientGraph made, graph_with_gradients(*graph, options.gradients));
  ORRERY_ASSIGN(opened.session,
                api::open_graph(std::move(made.graph), opened.session->info().name, options.arrays.open));
  opened.gradients = std::move(made.names);
  return opened;
}

}  // namespace

Runner prepare_run(Parser& parser, Context& context) {
  const auto options = std::make_shared<RunOptions>();
  parser.add_option("GRAPH", options->arrays.open.model, "the graph's file, .json").required();
  add_array_options(parser, options->arrays);
  parser.add_flag("--all", options->all, "every value of the graph, not its outputs alone");
  add_gradient_options(parser, options->gradients);
  add_output_options(parser, context);
  return [options, &context]() -> Result<int> {
    const ArrayOptions& arrays = options->arrays;
    ORRERY_ASSIGN(const Opened opened, open(*options));
    const auto& session = opened.session;
    const graph::GraphVersion graph = session->model_graph();
    api::RunRequest request;
    ORRERY_ASSIGN(const auto inputs, named_values(arrays.inputs, "--in"));
    for (const auto& [name, words] : inputs) {
      ORRERY_ASSIGN(api::Array array, array_for(*graph, name, words));
      if (!request.inputs.emplace(name, std::move(array)).second)
        return Error{ErrorCode::invalid_argument, fmt::format("{} is given twice", name), "--in",
                     "Give it once"};
    }
    request.repeat = arrays.repeat;
    if (options->all) request.keep = all_values(*graph);
    Result<api::GraphRun> ran = api::run_graph(*session, request, context.stop());
    if (!ran.ok())
      return placed(std::move(ran).error(), arrays.open.model, "orrery-cli graph FILE draws what it takes");
    const api::GraphRun run = std::move(ran).value();
    std::vector<Told> outputs = told(*graph, run.outputs), values = told(*graph, run.kept);
    for (size_t i = 0; i < opened.gradients.size(); ++i)
      outputs[outputs.size() - opened.gradients.size() + i].name = opened.gradients[i];
    ORRERY_TRY(write_arrays(arrays.out, outputs));
    ORRERY_TRY(write_arrays(arrays.out, values));
    if (context.json) {
      Json json = {{"outputs", to_json(outputs)}};
      if (options->all) json["values"] = to_json(values);
      Json steps = Json::array();
      for (const api::PlanStep& step : run.plan.steps) steps.push_back(to_json(step));
      json["steps"] = std::move(steps);
      json["us"] = run.us;
      print_json(json);
    } else {
      print_table(outputs);
      print_table(values);
      for (const api::PlanStep& step : run.plan.steps) print_step(step);
      const size_t steps = run.plan.steps.size();
      print(fmt::format("{} step{}, {:.1f} us, {} of buffers\n", steps, steps == 1 ? "" : "s", run.us,
                        readable_bytes(run.plan.arena_bytes)));
    }
    return kExitDone;
  };
}

}  // namespace orrery::cli
