#include "app/cli/common_options.h"
#include "app/cli/graph_formats.h"
#include "app/cli/output.h"
#include "app/cli/verbs.h"
#include "engine/api/shown_session.h"

namespace orrery::cli {
namespace {

struct Options {
  api::OpenOptions open;
  std::string phase = "decode", level = "model", format = "text";
  CLI::Option* given_format = nullptr;
};

/// Of a file that cannot run, the model graph as far as it is known; why, on stderr.
Result<graph::GraphVersion> graph_to_draw(const Context& context, const Options& options) {
  ProgressLine progress(context);
  ORRERY_ASSIGN(const auto session, api::open_or_show(options.open, progress.callback(), context.stop()));
  // Shapes stay symbolic, so both phases have one graph; the plan is what differs.
  const std::string& cannot_run = session->info().cannot_run;
  if (options.level == "fused") {
    if (cannot_run.empty()) return session->fused_graph();
    return Error{ErrorCode::unsupported, "The file cannot run, so there is no graph that runs",
                 session->info().path, cannot_run};
  }
  progress.clear();
  if (!cannot_run.empty()) note(context, "cannot run: " + cannot_run);
  return session->model_graph();
}

}  // namespace

Runner prepare_graph(CLI::App& app, Context& context) {
  const auto options = std::make_shared<Options>();
  add_model_options(app, options->open);
  add_phase_option(app, options->phase);
  app.add_option("--level", options->level, "model: as it is edited; fused: as it runs")
      ->check(CLI::IsMember({"model", "fused"}))
      ->capture_default_str();
  options->given_format = app.add_option("--format", options->format, "how it is written")
                              ->check(CLI::IsMember({"text", "json", "dot", "svg"}))
                              ->capture_default_str();
  add_output_options(app, context);
  return [options, &context]() -> Result<int> {
    if (context.json && options->given_format->empty()) options->format = "json";
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
