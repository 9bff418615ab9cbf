#include "engine/api/depths.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "engine/api/bench_run.h"
#include "engine/api/devices.h"
#include "engine/api/guard.h"
#include "engine/api/session_impl.h"

namespace orrery::api {
namespace {

BenchOptions options_of(const DepthsRequest& request) {
  BenchOptions options;
  options.depths = request.depths;
  options.gen = request.gen;
  options.repeats = request.repeats;
  return options;
}

/// The sides as sessions, with room for the last depth.
Result<std::vector<std::shared_ptr<Session>>> sides_of(const Session& session, const DepthsRequest& request,
                                                       std::stop_token stop) {
  if (request.sides.empty() || request.depths.empty())
    return Error{ErrorCode::invalid_argument, "There is nothing to measure", "depths",
                 "name a depth and a side"};
  const BenchOptions options = options_of(request);
  ORRERY_TRY(check_bench(options));
  std::vector<std::shared_ptr<Session>> sides;
  for (const DepthSide& side : request.sides) {
    Fork otherwise;
    otherwise.context = bench_context(options);
    otherwise.beyond = true;
    if (!side.opened) otherwise.edits = side.edits;
    ORRERY_ASSIGN(auto forked, session.fork(otherwise, {{}, stop}));
    if (side.opened) {
      ORRERY_TRY(forked->jump_to(0));
      const auto edited = forked->replay(side.edits, {{}, stop});
      if (!edited.ok()) return edited.error();
    }
    sides.push_back(std::move(forked));
  }
  return sides;
}

DepthsDemand demand_of(const std::vector<std::shared_ptr<Session>>& sides) {
  DepthsDemand demand;
  for (const auto& side : sides) {
    const auto& own = static_cast<const SessionImpl&>(*side);
    demand.context_bytes.push_back(own.context_bytes());
    demand.free_bytes = entry_of(own.engine().scheduler.device()).free_bytes;
  }
  demand.made_for = own_context(sides.front()->info().context_length);
  return demand;
}

Result<void> check_memory(const DepthsDemand& demand, int64_t depth) {
  const uint64_t needed =
      std::accumulate(demand.context_bytes.begin(), demand.context_bytes.end(), uint64_t{0});
  if (needed <= demand.free_bytes) return {};
  constexpr double kMega = 1e6;
  return Error{
      ErrorCode::out_of_memory,
      fmt::format("Contexts of {} tokens take {:.0f} MB, {:.0f} MB are free", depth,
                  static_cast<double>(needed) / kMega, static_cast<double>(demand.free_bytes) / kMega),
      "depths", "leave out the last depth, or measure one side alone"};
}

Error not_measured(const Session& session) {
  return {ErrorCode::unsupported, "Only a model that writes text has a depth", session.info().name,
          session.info().cannot_run};
}

}  // namespace

Result<DepthsDemand> depths_demand(const Session& session, const DepthsRequest& request,
                                   std::stop_token stop) {
  return guarded([&]() -> Result<DepthsDemand> {
    if (session.info().task != Task::generate || !dynamic_cast<const SessionImpl*>(&session))
      return not_measured(session);
    ORRERY_ASSIGN(const auto sides, sides_of(session, request, std::move(stop)));
    return demand_of(sides);
  });
}

Result<void> measure_depths(const Session& session, const DepthsRequest& request, const DepthEvents& events,
                            std::stop_token stop) {
  return guarded([&]() -> Result<void> {
    if (session.info().task != Task::generate || !dynamic_cast<const SessionImpl*>(&session))
      return not_measured(session);
    ORRERY_ASSIGN(const auto sides, sides_of(session, request, stop));
    ORRERY_TRY(check_memory(demand_of(sides), request.depths.back()));
    const BenchOptions options = options_of(request);
    const ProgressCallback silent;
    std::vector<BenchRun> runs;
    std::vector<BenchRun::Sequences> texts;
    for (const auto& side : sides) {
      const auto& own = static_cast<const SessionImpl&>(*side);
      runs.emplace_back(own.engine(), own.info().vocabulary, options, silent, stop);
      texts.push_back(runs.back().fresh());
    }
    for (const int64_t depth : request.depths)
      for (size_t side = 0; side < sides.size(); ++side) {
        const auto tell = [&](int64_t read, int64_t to_read) {
          if (events.on_progress) events.on_progress({side, depth, read, to_read});
        };
        ORRERY_ASSIGN(const BenchResult::Depth at, runs[side].reach(texts[side], depth, tell));
        if (events.on_point) events.on_point({side, at});
      }
    return {};
  });
}

}  // namespace orrery::api
