#include <fmt/format.h>

#include "app/cli/arrays.h"
#include "app/cli/common_options.h"
#include "app/cli/op_schema.h"
#include "app/cli/verbs.h"

namespace orrery::cli {
namespace {

struct OpOptions {
  std::string op;
  std::vector<std::string> attributes, gradients;
  ArrayOptions arrays;
};

/// The outputs by the names that the op has for them, then the gradients.
std::vector<Told> told_outputs(const api::OpenedOp& opened, const api::GraphRun& run) {
  std::vector<Told> outputs;
  for (size_t i = 0; i < run.outputs.size(); ++i)
    outputs.push_back({opened.names[i], "", &run.outputs[i].array});
  return outputs;
}

/// The step of the op among those that carry its operands.
const api::PlanStep* step_of(const api::GraphRun& run, const graph::OpSchema& op) {
  for (const api::PlanStep& step : run.plan.steps)
    if (step.op == op.name) return &step;
  return run.plan.steps.empty() ? nullptr : &run.plan.steps.front();
}

Json steps_of(const api::GraphRun& run) {
  Json steps = Json::array();
  for (const api::PlanStep& step : run.plan.steps) steps.push_back(to_json(step));
  return steps;
}

Result<int> run_op(const Context& context, const OpOptions& options, api::OpRequest request,
                   const graph::OpSchema& op) {
  ORRERY_ASSIGN(request.attributes, named_values(options.attributes, "--set"));
  ORRERY_ASSIGN(api::OpenedOp opened, api::open_op(request, options.arrays.open));
  opened.request.repeat = options.arrays.repeat;
  ORRERY_ASSIGN(const api::GraphRun run, api::run_graph(*opened.session, opened.request, context.stop()));
  std::vector<Told> outputs = told_outputs(opened, run);
  ORRERY_TRY(write_arrays(options.arrays.out, outputs));
  const api::PlanStep* step = step_of(run, op);
  if (context.json) {
    Json json = {{"outputs", to_json(outputs)}};
    const Json told = step ? to_json(*step) : Json::object();
    for (const char* key : {"kernel", "refused", "device", "us"}) json[key] = told.value(key, Json());
    if (!options.gradients.empty()) json["steps"] = steps_of(run);
    print_json(json);
  } else {
    print_table(outputs);
    for (const api::PlanStep& each : run.plan.steps)
      if (&each == step || !options.gradients.empty()) print_step(each);
  }
  return kExitDone;
}

}  // namespace

Runner prepare_op(Parser& parser, Context& context) {
  const auto options = std::make_shared<OpOptions>();
  parser.add_option("NAME", options->op, "an op of the registry, as `ops` lists them").required();
  parser.add_option("--set", options->attributes, "ATTRIBUTE=VALUE ...: axis=-1, shape=2,-1, kind=mean")
      .take_all();
  parser
      .add_option("--grad", options->gradients,
                  "NAME=FILE.npy ..., or as --in: the gradient of an output; of ops that have a backward "
                  "form also those of the "
                  "inputs that hold floats, as grad_INPUT")
      .take_all();
  add_array_options(parser, options->arrays);
  add_output_options(parser, context);
  const auto run = [options, &context]() -> Result<int> {
    api::OpRequest request{options->op, {}, {}, {}};
    ORRERY_ASSIGN(request.inputs, named_values(options->arrays.inputs, "--in"));
    ORRERY_ASSIGN(const api::OpInfo info, api::find_op(request));
    ORRERY_ASSIGN(request.gradients, named_values(options->gradients, "--grad"));
    const bool asked = !options->arrays.inputs.empty() || !options->attributes.empty() ||
                       !options->gradients.empty() || !options->arrays.out.empty() ||
                       options->arrays.repeat > 1;
    if (asked) return run_op(context, *options, std::move(request), *info.op);
    if (context.json)
      print_json(to_json(info));
    else
      print_schema(info);
    return kExitDone;
  };
  return [options, run]() -> Result<int> {
    Result<int> done = run();
    if (done.ok()) return done;
    return placed(std::move(done).error(), options->op,
                  fmt::format("orrery-cli op {} tells what it takes", options->op));
  };
}

}  // namespace orrery::cli
