#include "app/cli/common_options.h"
#include "app/cli/graph_formats.h"
#include "app/cli/verbs.h"

namespace orrery::cli {
namespace {

struct Options {
  api::OpenOptions open;
  std::string phase = "decode", level = "model", format = "text";
  CLI::Option* given_format = nullptr;
};

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
    ORRERY_ASSIGN(const auto session, open_session(context, options->open));
    // Shapes stay symbolic, so both phases have one graph; the plan is what differs.
    const graph::GraphVersion graph =
        options->level == "model" ? session->model_graph() : session->fused_graph();
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
