#include "app/cli/common_options.h"
#include "app/cli/gradient_options.h"
#include "app/cli/graph_formats.h"
#include "app/cli/output.h"
#include "app/cli/verbs.h"
#include "engine/api/shown_session.h"

namespace orrery::cli {
namespace {

struct GraphOptions {
  api::OpenOptions open;
  std::string phase = "decode", level = "model", format = "text";
  GradientOptions gradients;
  Option given_phase, given_format;
};

/// Of a file that cannot run, the model graph as far as it is known; why, on stderr.
Result<graph::GraphVersion> graph_to_draw(const Context& context, const GraphOptions& options) {
  ProgressLine progress(context);
  ORRERY_ASSIGN(const auto session, api::open_or_show(options.open, progress.callback(), context.stop()));
  const std::string& cannot_run = session->info().cannot_run;
  if (options.level == "fused") {
    if (options.gradients.asked())
      return Error{ErrorCode::invalid_argument, "Gradients are added to the model graph", "--grad",
                   "leave --level out"};
    if (cannot_run.empty() && options.given_phase.given()) {
      ORRERY_ASSIGN(api::PlanReport plan, session->plan(phase_of(options.phase)));
      return std::move(plan.graph);
    }
    if (cannot_run.empty()) return session->fused_graph();
    return Error{ErrorCode::unsupported, "The file cannot run, so there is no graph that runs",
                 session->info().path, cannot_run};
  }
  progress.clear();
  if (!cannot_run.empty()) note(context, "cannot run: " + cannot_run);
  if (!options.gradients.asked()) return session->model_graph();
  ORRERY_ASSIGN(api::GradientGraph made, graph_with_gradients(*session->model_graph(), options.gradients));
  return std::move(made.graph);
}

}  // namespace

Runner prepare_graph(Parser& parser, Context& context) {
  const auto options = std::make_shared<GraphOptions>();
  add_model_options(parser, options->open);
  options->given_phase = add_phase_option(parser, options->phase);
  parser
      .add_option("--level", options->level,
                  "model: as it is edited; fused: as it runs, in the largest steps or in those of --phase")
      .one_of({"model", "fused"})
      .show_default();
  options->given_format = parser.add_option("--format", options->format, "how it is written")
                              .one_of({"text", "json", "dot", "svg"})
                              .show_default();
  add_gradient_options(parser, options->gradients);
  add_output_options(parser, context);
  return [options, &context]() -> Result<int> {
    if (context.json && !options->given_format.given()) options->format = "json";
    ORRERY_ASSIGN(const graph::GraphVersion graph, graph_to_draw(context, *options));
    if (options->format == "json") {
      print_json(graph_json(*graph));
    } else if (options->format == "dot") {
      print(graph_dot(*graph));
    } else if (options->format == "svg") {
      print(graph_svg(*graph));
    } else {
      print(graph::print(*graph));
    }
    return kExitDone;
  };
}

}  // namespace orrery::cli
