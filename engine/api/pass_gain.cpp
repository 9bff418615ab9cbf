#include "engine/api/pass_gain.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "engine/api/guard.h"
#include "engine/api/prepare_version.h"
#include "engine/api/session_impl.h"

namespace orrery::api {
namespace {

constexpr int kMostRounds = 1000;

int nodes_that_compute(const graph::Graph& graph) {
  return static_cast<int>(
      std::ranges::count_if(graph.order(), [&graph](NodeId id) { return !graph.node(id).is_source(); }));
}

/// Nodes of `after` that `before` has not, or has with other attributes; as far as the graph that runs has
/// them.
std::vector<NodeId> made_between(const graph::Graph& before, const graph::Graph& after,
                                 const graph::Graph& runs) {
  std::vector<NodeId> made;
  for (const NodeId id : after.order()) {
    const graph::Node& node = after.node(id);
    if (node.is_source() || !runs.find(id)) continue;
    const graph::Node* was = before.find(id);
    if (!was || was->op != node.op || was->attributes != node.attributes) made.push_back(id);
  }
  return made;
}

/// One stage's records as reports; `graph` is what the stage began with, and then what it made.
void add_reports(std::vector<PassReport>& reports, graph::GraphVersion& graph, const graph::Graph& runs,
                 const passes::Outcome& outcome) {
  for (const passes::Record& record : outcome.records) {
    const auto pass = std::ranges::find(passes::all_passes(), record.pass, &passes::Pass::name);
    PassReport report;
    report.name = record.pass;
    report.doc = pass->doc;
    report.disabled = record.disabled;
    report.fuses = passes::is_fusion(*pass);
    report.rewrites = record.rewrites;
    report.ms = record.milliseconds;
    report.nodes_before = nodes_that_compute(*graph);
    report.nodes_after = nodes_that_compute(*record.after);
    if (record.rewrites > 0) report.made = made_between(*graph, *record.after, runs);
    reports.push_back(std::move(report));
    graph = record.after;
  }
}

Result<std::vector<PassReport>> reports_of(const SessionImpl& session) {
  const SessionStatePtr now = session.state();
  Preparation preparation = session.preparation(now->fusion, now->disabled_passes);
  preparation.passes.snapshots = true;
  graph::GraphVersion graph = now->version ? now->version->model : now->model;
  ORRERY_ASSIGN(const passes::Outcome model, run_model_passes(graph, preparation));
  std::vector<PassReport> reports;
  if (!now->version || now->version->open) {
    add_reports(reports, graph, *model.graph, model);
    return reports;
  }
  ORRERY_ASSIGN(const passes::Outcome plan,
                compile::graph_of_plan(now->version->fused, largest_step(preparation)));
  add_reports(reports, graph, *now->fused, model);
  graph = now->version->fused;  // placed: with what carries values to other devices
  add_reports(reports, graph, *now->fused, plan);
  return reports;
}

Error cannot_look(const Session& session) {
  return {ErrorCode::unsupported, "The passes of this session cannot be looked at", session.info().name,
          session.info().cannot_run};
}

/// The times of one of the two sides, by round.
struct RoundTimes {
  std::vector<double> decode, prefill, encode;

  void add(const BenchResult& result, const BenchOptions& options) {
    const auto of_tokens = [](const Rate& rate, int64_t tokens) {
      return 1e6 * static_cast<double>(tokens) / rate.tokens_per_second;
    };
    if (result.decode) decode.push_back(of_tokens(*result.decode, 1));
    if (result.prefill) prefill.push_back(of_tokens(*result.prefill, options.prompt));
    if (result.encode) encode.push_back(1e3 * result.encode->ms);
  }
};

std::optional<StepGain> gain_of(const std::vector<double>& with, const std::vector<double>& without) {
  if (with.empty()) return std::nullopt;
  return StepGain{spread_of(with), spread_of(without)};
}

/// As many tokens as the model can take.
BenchOptions sizes_of(const SessionImpl& session, const PassGainOptions& options) {
  BenchOptions bench;
  bench.prompt = options.prompt;
  bench.gen = options.gen;
  bench.tokens = options.tokens;
  bench.repeats = 1;
  if (session.info().task == Task::generate) {
    const int64_t most = session.info().context_length - 1;
    if (most > 0) bench.prompt = std::min(bench.prompt, most);
    if (most > 0) bench.gen = std::min(bench.gen, most);
  } else if (session.text_limit() > 0) {
    bench.tokens = std::min(bench.tokens, session.text_limit());
  }
  return bench;
}

Result<void> check_sizes_of(const PassGainOptions& options) {
  if (options.prompt >= 0 && options.gen >= 0 && options.prompt + options.gen > 0 && options.tokens > 0 &&
      options.rounds > 0 && options.rounds <= kMostRounds)
    return {};
  return Error{ErrorCode::invalid_argument, "The sizes of the measurement are out of range", "passes",
               fmt::format("read or write some tokens, in 1 to {} rounds", kMostRounds)};
}

/// The names that are left out, with those that go with the fusion.
std::set<std::string> left_out(const SessionState& state) {
  std::set<std::string> names = state.disabled_passes;
  if (!state.fusion)
    for (const passes::Pass& pass : passes::all_passes())
      if (passes::is_fusion(pass)) names.emplace(pass.name);
  return names;
}

Result<PassGain> measured_gain(const SessionImpl& session, const std::string& pass,
                               const PassGainOptions& options, const ProgressCallback& progress,
                               const std::stop_token& stop) {
  ORRERY_TRY(check_sizes_of(options));
  ORRERY_TRY(check_passes({pass}));
  const BenchOptions bench = sizes_of(session, options);
  Fork otherwise;
  otherwise.fusion = true;
  otherwise.context = session.info().task == Task::generate ? bench_context(bench) : 0;
  std::set<std::string> others = left_out(*session.state());
  others.erase(pass);
  otherwise.disabled_passes = others;
  ORRERY_ASSIGN(const auto with, session.fork(otherwise, {{}, stop}));
  PassGain gain;
  gain.pass = pass;
  ORRERY_ASSIGN(const std::vector<PassReport> reports, pass_reports(*with));
  gain.rewrites = std::ranges::find(reports, pass, &PassReport::name)->rewrites;
  if (gain.rewrites == 0) return gain;
  otherwise.disabled_passes->insert(pass);
  ORRERY_ASSIGN(const auto without, session.fork(otherwise, {{}, stop}));
  std::array<RoundTimes, 2> times;  // with, without
  for (int round = 0; round < options.rounds; ++round) {
    if (progress)
      progress("Measuring " + pass, static_cast<uint64_t>(round), static_cast<uint64_t>(options.rounds));
    for (int turn = 0; turn < 2; ++turn) {  // who comes first changes, so that what drifts meets both
      const bool second = (round + turn) % 2 == 1;
      ORRERY_ASSIGN(const BenchResult result, (second ? without : with)->bench(bench, {}, stop));
      times[second ? 1 : 0].add(result, bench);
    }
  }
  gain.rounds = options.rounds;
  gain.decode = gain_of(times[0].decode, times[1].decode);
  gain.prefill = gain_of(times[0].prefill, times[1].prefill);
  gain.encode = gain_of(times[0].encode, times[1].encode);
  return gain;
}

}  // namespace

StepSpread spread_of(std::vector<double> times) {
  if (times.empty()) return {};
  std::ranges::sort(times);
  const auto at = [&times](double share) {  // between the two that are nearest
    const double place = share * static_cast<double>(times.size() - 1);
    const auto below = static_cast<size_t>(place);
    const double above = times[std::min(below + 1, times.size() - 1)];
    return times[below] + (place - static_cast<double>(below)) * (above - times[below]);
  };
  return {at(0.5), at(0.125), at(0.875)};
}

Result<std::vector<PassReport>> pass_reports(const Session& session) {
  return guarded([&]() -> Result<std::vector<PassReport>> {
    const auto* own = dynamic_cast<const SessionImpl*>(&session);
    if (!own) return cannot_look(session);
    return reports_of(*own);
  });
}

Result<PassGain> pass_gain(const Session& session, const std::string& pass, const PassGainOptions& options,
                           const ProgressCallback& progress, const std::stop_token& stop) {
  return guarded([&]() -> Result<PassGain> {
    const auto* own = dynamic_cast<const SessionImpl*>(&session);
    if (!own) return cannot_look(session);
    return measured_gain(*own, pass, options, progress, stop);
  });
}

}  // namespace orrery::api
