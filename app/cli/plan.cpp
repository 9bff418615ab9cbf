#include <fmt/format.h>

#include "app/cli/common_options.h"
#include "app/cli/verbs.h"

namespace orrery::cli {
namespace {

Json to_json(const api::PlanReport& plan) {
  Json steps = Json::array();
  for (const api::PlanStep& step : plan.steps) {
    Json refused = Json::array();
    for (const auto& refusal : step.refused)
      refused.push_back({{"kernel", refusal.kernel}, {"reason", refusal.reason}});
    steps.push_back({{"node", step.path},
                     {"op", step.op},
                     {"device", step.device},
                     {"asked", step.asked},
                     {"reason", step.reason},
                     {"kernel", step.kernel},
                     {"precision", step.precision},
                     {"computes", step.computes},
                     {"precision_reason", step.precision_reason},
                     {"refused", std::move(refused)},
                     {"flops", step.flops},
                     {"bytes", step.bytes}});
  }
  Json passes = Json::array();
  for (const api::PlanPass& pass : plan.passes)
    passes.push_back({{"name", pass.name},
                      {"doc", pass.doc},
                      {"rewrites", pass.rewrites},
                      {"ms", pass.ms},
                      {"disabled", pass.disabled}});
  return {{"passes", std::move(passes)}, {"steps", std::move(steps)}, {"arena_bytes", plan.arena_bytes}};
}

void print_table(const api::PlanReport& plan) {
  for (const api::PlanPass& pass : plan.passes) {
    const std::string did = pass.disabled ? "switched off" : fmt::format("{} rewritten", pass.rewrites);
    print(fmt::format("pass {:<22} {:<14} {}\n", pass.name, did, pass.doc));
  }
  for (const api::PlanStep& step : plan.steps) {
    print(fmt::format("{:<44} {:<20} {:<6} {}\n", step.path, step.op, step.device, step.kernel));
    if (step.device != step.asked)
      print(fmt::format("    not on {} as asked: {}\n", step.asked, step.reason));
    if (!step.precision_reason.empty())
      print(fmt::format("    asked {}, computes in {}: {}\n", step.precision, step.computes,
                        step.precision_reason));
    for (const auto& refusal : step.refused)
      print(fmt::format("    not {}: {}\n", refusal.kernel, refusal.reason));
  }
  print(fmt::format("{} steps, {} of buffers, compiled in {:.1f} ms\n", plan.steps.size(),
                    readable_bytes(plan.arena_bytes), plan.compile_ms));
}

}  // namespace

Runner prepare_plan(Parser& parser, Context& context) {
  const auto options = std::make_shared<api::OpenOptions>();
  const auto phase = std::make_shared<std::string>("decode");
  add_model_options(parser, *options);
  add_phase_option(parser, *phase);
  add_output_options(parser, context);
  return [options, phase, &context]() -> Result<int> {
    ORRERY_ASSIGN(const auto session, open_session(context, *options));
    ORRERY_ASSIGN(const api::PlanReport plan, session->plan(phase_of(*phase)));
    if (context.json) {
      print_json(to_json(plan));
    } else {
      print_table(plan);
    }
    return kExitDone;
  };
}

}  // namespace orrery::cli
