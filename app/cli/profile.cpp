#include <fmt/format.h>

#include <algorithm>

#include "app/cli/common_options.h"
#include "app/cli/trace.h"
#include "app/cli/verbs.h"

namespace orrery::cli {
namespace {

struct Options {
  api::OpenOptions open;
  std::string prompt, out;
  int64_t gen = 32;
};

/// One run that the profiler sees: a greedy reply of `gen` tokens, or one encoded text.
Result<void> run_once(api::Session& session, const Options& options, const Context& context) {
  switch (session.info().task) {
    case api::Task::generate: {
      api::ChatRequest request;
      request.raw = options.prompt;
      request.max_tokens = options.gen;
      request.sampling.temperature = 0;
      auto result = session.chat(request, {}, context.stop());
      if (!result) return std::move(result).error();
      return result->stop_reason == "cancelled" ? Result<void>(cancelled_error()) : Result<void>();
    }
    case api::Task::embed: {
      auto result = session.embed({options.prompt}, context.stop());
      return result.ok() ? Result<void>() : Result<void>(result.error());
    }
    case api::Task::classify: {
      auto result = session.classify({options.prompt}, {}, context.stop());
      return result.ok() ? Result<void>() : Result<void>(result.error());
    }
  }
  return {};
}

std::string path_of(const graph::Graph& graph, NodeId id) {
  const graph::Node* node = graph.find(id);
  return node ? node->path() : fmt::format("%{}", id.value);
}

double share_of(const api::Profile& profile, const api::NodeTiming& timing) {
  double total = 0;
  for (const api::NodeTiming& other : profile.fused) total += other.mean_us;
  return total > 0 ? timing.mean_us / total : 0;
}

Json to_json(const graph::Graph& graph, const api::Profile& profile) {
  Json nodes = Json::array();
  for (const api::NodeTiming& timing : profile.fused)
    nodes.push_back({{"node", path_of(graph, timing.node)},
                     {"us", timing.mean_us},
                     {"bytes", timing.bytes},
                     {"flops", timing.flops},
                     {"share", share_of(profile, timing)}});
  return nodes;
}

void print_table(const graph::Graph& graph, const api::Profile& profile, std::string_view name) {
  constexpr size_t kShown = 25;
  std::vector<api::NodeTiming> nodes = profile.fused;
  std::sort(nodes.begin(), nodes.end(), [](const auto& a, const auto& b) { return a.mean_us > b.mean_us; });
  print(fmt::format("{}: {:.1f} us a step, {:.1f} us in {} nodes\n", name, profile.step_us, profile.nodes_us,
                    nodes.size()));
  for (size_t i = 0; i < std::min(kShown, nodes.size()); ++i)
    print(fmt::format(
        "  {:>9.1f} us {:>5.1f} % {:>7.1f} GB/s {:>8.1f} GFLOP/s  {}\n", nodes[i].mean_us,
        100 * share_of(profile, nodes[i]), nodes[i].bytes / std::max(nodes[i].mean_us, 1e-3) / 1e3,
        nodes[i].flops / std::max(nodes[i].mean_us, 1e-3) / 1e3, path_of(graph, nodes[i].node)));
}

Result<int> run(const Options& options, const Context& context) {
  ORRERY_ASSIGN(const auto session, open_session(context, options.open));
  session->set_profiling(true);
  ORRERY_TRY(run_once(*session, options, context));
  const graph::GraphVersion graph = session->fused_graph();
  std::vector<api::Profile> profiles;
  for (const api::Phase phase : {api::Phase::prefill, api::Phase::decode})
    profiles.push_back(session->profile(phase));
  const std::string& device = session->options().device;
  const std::string title = fmt::format("{} on {}", session->info().name, device);
  if (!options.out.empty()) ORRERY_TRY(write_file(options.out, trace_json(*graph, profiles, title)));
  if (context.json) {
    print_json(
        {{"phases", {{"prefill", to_json(*graph, profiles[0])}, {"decode", to_json(*graph, profiles[1])}}},
         {"device", device}});
    return kExitDone;
  }
  print(title + "\n");
  print_table(*graph, profiles[0], "prefill");
  if (profiles[1].generation > 0) print_table(*graph, profiles[1], "decode");
  return kExitDone;
}

}  // namespace

Runner prepare_profile(CLI::App& app, Context& context) {
  const auto options = std::make_shared<Options>();
  add_model_options(app, options->open);
  app.add_option("--prompt", options->prompt, "what the model reads")->required();
  app.add_option("--gen", options->gen, "tokens to write after it")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 20))
      ->capture_default_str();
  app.add_option("--out", options->out, "write a trace for ui.perfetto.dev here, trace.json");
  add_output_options(app, context);
  return [options, &context] { return run(*options, context); };
}

}  // namespace orrery::cli
