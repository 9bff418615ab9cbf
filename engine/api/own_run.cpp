// Runs of a graph of one's own: sizes by what is given, a step beside whatever else runs, and what it made.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "engine/api/devices.h"
#include "engine/api/guard.h"
#include "engine/api/own_graph.h"
#include "engine/api/session_impl.h"
#include "engine/compile/demand.h"
#include "engine/generate/probe.h"
#include "engine/own/sizes.h"

namespace orrery::api {
namespace {

constexpr int kWarmUps = 2;  // on a card a step is captured when it comes for the second time

own::GivenTypes types_of(const RunRequest& request) {
  own::GivenTypes types;
  for (const auto& [name, array] : request.inputs) types.emplace(name, array.type());
  return types;
}

/// The graph with the kept values among its outputs, so that they are computed.
Result<graph::GraphVersion> with_kept(const graph::GraphVersion& graph, const std::vector<ValueId>& keep) {
  if (keep.empty()) return graph;
  auto copy = std::make_shared<graph::Graph>(*graph);
  std::vector<ValueId> outputs = copy->outputs();
  for (const ValueId value : keep) {
    if (!copy->find_value(value))
      return Error{ErrorCode::not_found, fmt::format("The graph has no value %{}", value.value), "", ""};
    outputs.push_back(value);
  }
  copy->set_outputs(std::move(outputs));
  return graph::GraphVersion(std::move(copy));
}

/// What a step of a model has and a run on arrays has not.
Result<void> check_runnable(const graph::Graph& graph) {
  if (graph.outputs().empty())
    return Error{ErrorCode::invalid_argument, "The graph has no outputs", "",
                 "make a value an output, or keep one"};
  const std::vector<bool> live = graph.live();
  for (size_t i = 0; i < live.size(); ++i) {
    const graph::Node& node = graph.node(graph.order()[i]);
    if (live[i] && node.op->name == "state")
      return Error{ErrorCode::unsupported, "It keeps what was read of a text, and a run on arrays reads none",
                   node.path(), "use ops that keep nothing"};
  }
  return {};
}

/// Where the texts begin that a node works on, as it is given; nothing where another node makes it.
Result<std::vector<int32_t>> starts_of(const graph::Graph& sized, const graph::Node& node, ValueId input,
                                       const RunRequest& request) {
  std::vector<int32_t> starts;
  const graph::Node& maker = sized.node(sized.value(input).producer);
  if (!ops::is_given(maker)) return starts;  // its lowering says why not
  const Array& array = request.inputs.at(std::get<std::string>(maker.attributes.at("name")));
  starts.resize(array.bytes / sizeof(int32_t));
  if (!starts.empty()) std::memcpy(starts.data(), array.data.get(), array.bytes);
  const int64_t rows = sized.value(node.inputs.front()).type.shape.front().constant();
  const bool rise = std::ranges::adjacent_find(starts, std::greater_equal<>()) == starts.end();
  if (!starts.empty() && rise && starts.front() == 0 && starts.back() == rows) return starts;
  return Error{ErrorCode::invalid_argument,
               fmt::format("Starts of sequences rise from 0 to the {} rows", rows),
               fmt::format("{}, {}", node.path(), maker.path()), "give other numbers"};
}

/// The sequences of the step: those that its nodes are given.
Result<std::vector<int32_t>> sequences_of(const graph::Graph& sized, const RunRequest& request) {
  std::vector<int32_t> sequences;
  std::string first;
  const std::vector<bool> live = sized.live();
  for (size_t i = 0; i < live.size(); ++i) {
    const graph::Node& node = sized.node(sized.order()[i]);
    for (size_t k = 0; live[i] && k < std::min(node.inputs.size(), node.op->inputs.size()); ++k) {
      if (node.op->inputs[k].finds != graph::Finds::sequences) continue;
      ORRERY_ASSIGN(std::vector<int32_t> starts, starts_of(sized, node, node.inputs[k], request));
      if (!first.empty() && starts != sequences)
        return Error{ErrorCode::invalid_argument,
                     "A run has one set of sequences, and these two are given others",
                     fmt::format("{} and {}", first, node.path()), "give both the same starts"};
      first = node.path();
      sequences = std::move(starts);
    }
  }
  return sequences;
}

/// Refuses what the arena of the run does not fit in.
Result<void> check_memory(const SessionImpl& session, const runtime::Version& version,
                          const compile::Bucket& bucket) {
  const runtime::Model& model = *session.engine().model;
  compile::DemandOptions options;
  options.device = model.devices(version).home;
  options.precision = model.options().precision;
  options.passes = version.passes;
  options.threads = model.options().threads;
  ORRERY_ASSIGN(const compile::Demand demand, compile::demand_of(version.fused, {&bucket, 1}, options));
  const DeviceEntry device = entry_of(model.options().device);
  const uint64_t bytes = demand.arena_bytes + demand.workspace_bytes;
  if (!session.options().check_memory || device.memory_bytes == 0 || bytes <= device.free_bytes) return {};
  constexpr double kMega = 1e6;
  return Error{ErrorCode::out_of_memory,
               fmt::format("The values of the run take {:.0f} MB, and {:.0f} MB are free on {}",
                           static_cast<double>(bytes) / kMega, static_cast<double>(device.free_bytes) / kMega,
                           device.device == "cpu" ? "the CPU" : device.name),
               session.info().name, "give smaller arrays, keep fewer values, or close other programs"};
}

double median(std::vector<int64_t> times) {
  if (times.empty()) return 0;
  const auto middle = times.begin() + static_cast<ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return static_cast<double>(*middle) * 1e-3;
}

/// Of the last runs, without those that warmed up.
void add_times(const runtime::ProfileSnapshot& profile, size_t runs, GraphRun& run) {
  const size_t kept = std::min(profile.runs, runs);
  std::vector<int64_t> sums(kept);
  for (size_t i = 0; i < profile.nodes.size(); ++i) {
    const auto last = profile.times.begin() + static_cast<ptrdiff_t>((i + 1) * profile.runs);
    const std::vector<int64_t> times(last - static_cast<ptrdiff_t>(kept), last);
    std::transform(times.begin(), times.end(), sums.begin(), sums.begin(), std::plus<>());
    run.plan.steps[i].us = median(times);
  }
  run.us = median(std::move(sums));
}

Result<Array> array_of(generate::Probe& probe, size_t point) {
  std::vector<int64_t> shape;
  for (const Dim& dim : probe.points()[point].type.shape) shape.push_back(dim.constant());
  ORRERY_ASSIGN(const std::vector<std::byte> bytes, probe.read_bytes(point));
  ORRERY_ASSIGN(Array array, make_array(probe.points()[point].type.dtype, std::move(shape)));
  std::ranges::copy(bytes, array.data.get());
  return array;
}

class Running {
 public:
  Running(SessionImpl& session, const RunRequest& request, std::stop_token stop)
      : session_(session), request_(request), stop_(std::move(stop)) {}

  Result<GraphRun> run() {
    ORRERY_ASSIGN(const SessionStatePtr now, sized_state());
    ORRERY_TRY(prepare(*now));
    ORRERY_ASSIGN(auto probe, probe_it());
    for (int i = 1; i < runs(); ++i) {
      if (stop_.stop_requested()) return cancelled_error();
      ORRERY_TRY(probe->run_again());
    }
    GraphRun run;
    run.sizes = now->sizes;
    run.plan = report_of(probe->plan(), *version_, session_.options().device, {});
    const runtime::ProfileSnapshot measured = probe->profile();
    add_times(measured, static_cast<size_t>(request_.repeat), run);
    LimitsReach reach;
    run.profile = profile_of(measured, Phase::prefill, session_.limits(), reach);
    for (size_t i = 0; i < graph_->outputs().size(); ++i) {
      const ValueId value = graph_->outputs()[i];
      ORRERY_ASSIGN(Array array, array_of(*probe, i));
      (i < now->model->outputs().size() ? run.outputs : run.kept)
          .push_back({value, graph_->value_path(value), std::move(array)});
    }
    return run;
  }

 private:
  int runs() const { return request_.repeat > 1 ? request_.repeat + kWarmUps : 1; }

  /// The session's state with the sizes of what is given. Edits may come in between.
  Result<SessionStatePtr> sized_state() {
    while (true) {
      const SessionStatePtr now = session_.state();
      ORRERY_ASSIGN(const graph::GraphVersion wanted, with_kept(now->model, request_.keep));
      ORRERY_ASSIGN(Bindings sizes, own::sizes_of(*wanted, types_of(request_)));
      if (now->sizes == sizes) return now;
      const Changed changed = wait_for(session_, SetSizes{std::move(sizes)}, {{}, stop_});
      if (!changed.records.ok()) return changed.records.error();
    }
  }

  /// What runs, with its kept values: that of the state where there are none.
  Result<void> prepare(const SessionState& now) {
    ORRERY_ASSIGN(graph_, with_kept(now.model, request_.keep));
    ORRERY_TRY(check_runnable(*graph_));
    version_ = now.version;
    if (request_.keep.empty()) return {};
    Preparation preparation = session_.preparation(now.fusion, now.disabled_passes);
    preparation.sizes = now.sizes;
    ORRERY_ASSIGN(version_, prepare_version(graph_, preparation, {{}, stop_}));
    return {};
  }

  Result<std::unique_ptr<generate::Probe>> probe_it() {
    ORRERY_ASSIGN(const std::vector<int32_t> starts, sequences_of(*version_->model, request_));
    const std::vector<int32_t> tokens(starts.empty() ? 0 : static_cast<size_t>(starts.back()));
    const auto count = static_cast<int64_t>(tokens.size());
    ORRERY_TRY(check_memory(
        session_, *version_,
        compile::bucket_for(count, 0, std::max<int64_t>(static_cast<int64_t>(starts.size()) - 1, 0))));
    generate::Probe::Step step;
    step.tokens = tokens;
    step.starts = starts;
    step.timed = true;
    for (const auto& [name, array] : request_.inputs) step.given.push_back({name, array.view()});
    if (stop_.stop_requested()) return cancelled_error();
    return generate::Probe::run(session_.engine(), *version_, version_->fused->outputs(), step);
  }

  SessionImpl& session_;
  const RunRequest& request_;
  std::stop_token stop_;
  graph::GraphVersion graph_;  // as it is drawn, with the kept values among its outputs
  std::shared_ptr<const runtime::Version> version_;
};

}  // namespace

Result<GraphRun> run_graph(Session& session, const RunRequest& request, std::stop_token stop) {
  return guarded([&]() -> Result<GraphRun> {
    auto* own = dynamic_cast<SessionImpl*>(&session);
    if (!own || own->info().task != Task::tensors)
      return Error{ErrorCode::invalid_argument, "Only a graph of one's own is run on arrays",
                   session.info().name, "open or make a graph"};
    if (request.repeat < 1)
      return Error{ErrorCode::invalid_argument, "There is nothing to run", "repeat", "run it once at least"};
    return Running(*own, request, std::move(stop)).run();
  });
}

}  // namespace orrery::api
