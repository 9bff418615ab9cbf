#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <latch>

#include "app/cli/common_options.h"
#include "app/cli/verbs.h"

namespace orrery::cli {
namespace {

struct Options {
  api::OpenOptions open;
  std::string prompt, out, beside;
  int64_t gen = 32;
};

using Sessions = std::vector<std::shared_ptr<api::Session>>;

/// A greedy reply of `tokens` tokens, or one encoded text.
Result<void> run_once(api::Session& session, const Options& options, int64_t tokens, std::stop_token stop) {
  switch (session.info().task) {
    case api::Task::generate: {
      api::ChatRequest request;
      request.raw = options.prompt;
      request.max_tokens = tokens;
      request.sampling.temperature = 0;
      auto result = session.chat(request, {}, stop);
      if (!result) return std::move(result).error();
      return result->stop_reason == "cancelled" ? Result<void>(cancelled_error()) : Result<void>();
    }
    case api::Task::embed: {
      auto result = session.embed({options.prompt}, stop);
      return result.ok() ? Result<void>() : Result<void>(result.error());
    }
    case api::Task::classify: {
      auto result = session.classify({options.prompt}, {}, stop);
      return result.ok() ? Result<void>() : Result<void>(result.error());
    }
  }
  return {};
}

/// Opens --device and, where it is asked for, --beside; those two also run once unseen, so that both begin
/// with compiled plans and weights in place.
Result<Sessions> open_sides(const Options& options, const Context& context) {
  constexpr int64_t kWarmTokens = 2;
  ORRERY_ASSIGN(auto first, open_session(context, options.open));
  Sessions sessions{std::move(first)};
  if (options.beside.empty()) return sessions;
  api::OpenOptions other = options.open;
  other.device = options.beside;
  ORRERY_ASSIGN(auto second, open_session(context, other));
  if (second->options().device == sessions[0]->options().device)
    return Error{ErrorCode::invalid_argument, fmt::format("Both sides run on {}", second->options().device),
                 "--beside", "name another device than --device"};
  sessions.push_back(std::move(second));
  for (const auto& session : sessions) {
    session->set_profiling(false);
    ORRERY_TRY(run_once(*session, options, kWarmTokens, context.stop()));
    session->forget_context();
  }
  return sessions;
}

/// All sessions at the same time, seen by profiler and trace; where one fails the others stop.
Result<void> run_measured(const Sessions& sessions, const Options& options, const Context& context) {
  std::stop_source stop;
  const std::stop_callback stop_all(context.stop(), [&stop] { stop.request_stop(); });
  std::latch start(static_cast<std::ptrdiff_t>(sessions.size()));
  std::vector<std::future<Result<void>>> runs;
  for (const auto& session : sessions) {
    session->set_profiling(true);
    session->set_tracing(!options.out.empty());
    runs.push_back(std::async(std::launch::async, [&] {
      start.arrive_and_wait();
      Result<void> done = run_once(*session, options, options.gen, stop.get_token());
      if (!done.ok()) stop.request_stop();
      return done;
    }));
  }
  Result<void> result;
  for (auto& run : runs) {
    Result<void> done = run.get();
    const bool says_why = result.ok() || result.error().code == ErrorCode::cancelled;
    if (!done.ok() && says_why) result = std::move(done);
  }
  return result;
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

Json phases_of(const api::Session& session) {
  const graph::GraphVersion graph = session.fused_graph();
  return {{"prefill", to_json(*graph, session.profile(api::Phase::prefill))},
          {"decode", to_json(*graph, session.profile(api::Phase::decode))}};
}

void print_tables(const api::Session& session) {
  const graph::GraphVersion graph = session.fused_graph();
  print(fmt::format("{} on {}\n", session.info().name, session.options().device));
  print_table(*graph, session.profile(api::Phase::prefill), "prefill");
  const api::Profile decode = session.profile(api::Phase::decode);
  if (decode.generation > 0) print_table(*graph, decode, "decode");
}

Result<int> run(const Options& options, const Context& context) {
  ORRERY_ASSIGN(const Sessions sessions, open_sides(options, context));
  ORRERY_TRY(run_measured(sessions, options, context));
  if (!options.out.empty()) {
    std::vector<api::Trace> traces;
    for (const auto& session : sessions) traces.push_back(session->trace());
    ORRERY_TRY(write_file(options.out, api::write_trace(traces)));
  }
  if (!context.json) {
    for (const auto& session : sessions) print_tables(*session);
    return kExitDone;
  }
  Json document = {{"phases", phases_of(*sessions[0])}, {"device", sessions[0]->options().device}};
  if (sessions.size() > 1)
    document["beside"] = {{"device", sessions[1]->options().device}, {"phases", phases_of(*sessions[1])}};
  print_json(document);
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
  app.add_option("--beside", options->beside, "a second device that runs the same at the same time");
  app.add_option("--out", options->out,
                 "write what ran when, on all devices, here, trace.json; ui.perfetto.dev opens it");
  add_output_options(app, context);
  return [options, &context] { return run(*options, context); };
}

}  // namespace orrery::cli
