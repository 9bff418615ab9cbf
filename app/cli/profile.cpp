#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <latch>

#include "app/cli/common_options.h"
#include "app/cli/verbs.h"

namespace orrery::cli {
namespace {

struct ProfileOptions {
  api::OpenOptions open;
  std::string prompt, out, beside;
  int64_t tokens = 0;  // in the prompt's place, at random
  int64_t gen = 32;
};

using Sessions = std::vector<std::shared_ptr<api::Session>>;

/// Ids at random in the prompt's place. A bench warms up, so they run twice.
api::BenchOptions bench_of(const ProfileOptions& options, int64_t gen) {
  api::BenchOptions bench;
  bench.prompt = 0;
  bench.depth = bench.tokens = options.tokens;
  bench.gen = gen;
  bench.repeats = 1;
  return bench;
}

Result<void> run_tokens(api::Session& session, const ProfileOptions& options, int64_t gen,
                        std::stop_token stop) {
  auto result = session.bench(bench_of(options, gen), {}, std::move(stop));
  return result.ok() ? Result<void>() : Result<void>(std::move(result).error());
}

/// A greedy reply of `gen` tokens, or one encoded text.
Result<void> run_once(api::Session& session, const ProfileOptions& options, int64_t gen,
                      std::stop_token stop) {
  if (options.tokens > 0) return run_tokens(session, options, gen, std::move(stop));
  switch (session.info().task) {
    case api::Task::generate: {
      api::ChatRequest request;
      request.raw = options.prompt;
      request.max_tokens = gen;
      request.sampling.temperature = 0;
      auto result = session.chat(request, {}, stop);
      if (!result) return std::move(result).error();
      return result->stop_reason == "cancelled" ? Result<void>(cancelled_error()) : Result<void>();
    }
    case api::Task::embed: {
      auto result = session.embed({options.prompt}, stop);
      return result.ok() ? Result<void>() : Result<void>(result.error());
    }
    case api::Task::tensors:
      return Error{ErrorCode::unsupported, "A graph of one's own reads no text", session.info().name,
                   "use orrery-cli run, which tells the time of each node"};
    case api::Task::classify: {
      auto result = session.classify({options.prompt}, {}, stop);
      return result.ok() ? Result<void>() : Result<void>(result.error());
    }
  }
  return {};
}

/// Opens --device and, where it is asked for, --beside; those two also run once unseen, so that both begin
/// with compiled plans and weights in place.
Result<Sessions> open_sides(const ProfileOptions& options, const Context& context) {
  constexpr int64_t kWarmTokens = 2;
  api::OpenOptions open = options.open;
  if (options.tokens > 0) open.least_context = api::bench_context(bench_of(options, options.gen));
  ORRERY_ASSIGN(auto first, open_session(context, open));
  Sessions sessions{std::move(first)};
  if (options.beside.empty()) return sessions;
  api::OpenOptions other = open;
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
Result<void> run_measured(const Sessions& sessions, const ProfileOptions& options, const Context& context) {
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

struct Row {
  std::string node;
  api::Measured measured;
  double share = 0;
};

/// Of the fused graph, in the order that they ran.
std::vector<Row> rows_of(const api::Profile& profile) {
  std::vector<Row> rows;
  for (const api::NodeTimes::Row& row : profile.fused.rows()) {
    const api::Measured measured = profile.measured(row.node, true);
    rows.push_back({path_of(*profile.fused_graph, row.node), measured, profile.share(measured.timing.us)});
  }
  return rows;
}

Json to_json(const api::Profile& profile) {
  Json nodes = Json::array();
  for (const Row& row : rows_of(profile))
    nodes.push_back({{"node", row.node},
                     {"us", row.measured.timing.us},
                     {"p50_us", row.measured.timing.p50_us},
                     {"p95_us", row.measured.timing.p95_us},
                     {"runs", row.measured.timing.runs},
                     {"bytes", row.measured.bytes},
                     {"flops", row.measured.flops},
                     {"share", row.share}});
  return nodes;
}

void print_table(const api::Profile& profile, std::string_view name) {
  constexpr size_t kShown = 25;
  std::vector<Row> rows = rows_of(profile);
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& a, const Row& b) { return a.measured.timing.us > b.measured.timing.us; });
  const std::string which = profile.phase == api::Phase::decode
                                ? fmt::format("median of {} steps", profile.step.runs)
                                : fmt::format("the last step, {} tokens", profile.tokens);
  print(fmt::format("{}: {:.1f} us in {} nodes ({})\n", name, profile.step.us, rows.size(), which));
  for (size_t i = 0; i < std::min(kShown, rows.size()); ++i) {
    const api::Measured& measured = rows[i].measured;
    const double us = std::max(measured.timing.us, 1e-3);
    print(fmt::format("  {:>9.1f} us {:>5.1f} % {:>7.1f} GB/s {:>8.1f} GFLOP/s  {}\n", measured.timing.us,
                      100 * rows[i].share, measured.bytes / us / 1e3, measured.flops / us / 1e3,
                      rows[i].node));
  }
}

Json phases_of(const api::Session& session) {
  return {{"prefill", to_json(*session.profile(api::Phase::prefill))},
          {"decode", to_json(*session.profile(api::Phase::decode))}};
}

void print_tables(const api::Session& session) {
  print(fmt::format("{} on {}\n", session.info().name, session.options().device));
  print_table(*session.profile(api::Phase::prefill), "prefill");
  const api::ProfilePtr decode = session.profile(api::Phase::decode);
  if (decode->step.runs > 0) print_table(*decode, "decode");
}

Result<int> run(const ProfileOptions& options, const Context& context) {
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

Runner prepare_profile(Parser& parser, Context& context) {
  const auto options = std::make_shared<ProfileOptions>();
  add_model_options(parser, options->open);
  Parser source = parser.add_group("prompt", "what the model reads");
  source.add_option("--prompt", options->prompt, "a text");
  source.add_option("--tokens", options->tokens, "as many ids at random: no vocabulary is needed")
      .range(1, int64_t{1} << 20);
  source.require_options(1, 1);
  parser.add_option("--gen", options->gen, "tokens to write after it")
      .range(1, int64_t{1} << 20)
      .show_default();
  parser.add_option("--beside", options->beside, "a second device that runs the same at the same time");
  parser.add_option("--out", options->out,
                    "write what ran when, on all devices, here, trace.json; ui.perfetto.dev opens it");
  add_output_options(parser, context);
  return [options, &context] { return run(*options, context); };
}

}  // namespace orrery::cli
