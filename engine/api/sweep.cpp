#include "engine/api/sweep.h"

#include <fmt/format.h>

#include <chrono>

#include "engine/api/edit_meter.h"
#include "engine/api/guard.h"
#include "engine/api/recipes.h"

namespace orrery::api {
namespace {

std::map<std::string, std::string> conditions_of(const SessionImpl& session, const SessionState& state) {
  const OpenOptions& options = session.options();
  std::string recipe;
  for (const edit::Edit& edit : state.history.recipe()) recipe += edit.to_string() + "\n";
  std::string passes = state.fusion ? "" : "no fusion";
  for (const std::string& pass : state.disabled_passes) passes += (passes.empty() ? "no " : ", no ") + pass;
  return {{"model", fmt::format("{}, {} bytes", identity_of(session.info()), session.info().bytes)},
          {"adapter", options.adapter},
          {"recipe", std::move(recipe)},
          {"passes", std::move(passes)},
          {"device", options.device},
          {"precision", options.precision},
          {"kv_type", options.kv_type}};
}

/// Whether what is measured of a sweep is of this session and of the first of these places.
Result<void> check_begun(const Sweep& begun, const std::map<std::string, std::string>& conditions,
                         const std::vector<SweepPlace>& places) {
  if (begun.places == 0 && begun.rows.empty()) return {};
  const auto refuse = [](std::string_view name, std::string_view was, std::string_view is) {
    return Error{ErrorCode::invalid_argument, "The sweep was begun under other conditions",
                 fmt::format("{}: \"{}\", not \"{}\"", name, was.substr(0, 100), is.substr(0, 100)),
                 "open the model as it was then, or start again"};
  };
  for (const auto& [name, is] : conditions) {
    const auto was = begun.conditions.find(name);
    if (was == begun.conditions.end()) return refuse(name, "", is);
    if (was->second != is) return refuse(name, was->second, is);
  }
  if (begun.places != places.size() || begun.rows.size() > places.size())
    return refuse("places", std::to_string(begun.places), std::to_string(places.size()));
  for (size_t i = 0; i < begun.rows.size(); ++i)
    if (begun.rows[i].edit != places[i].edit)
      return refuse("edit", begun.rows[i].edit.to_string(), places[i].edit.to_string());
  return {};
}

/// What the live weights take that no place of the sweep stores otherwise.
uint64_t bytes_beside(const graph::Graph& graph, const std::vector<SweepPlace>& places) {
  double bytes = 0;
  const std::vector<bool> live = graph.live();
  for (size_t i = 0; i < live.size(); ++i)
    if (const graph::Node& node = graph.node(graph.order()[i]); live[i] && node.op->name == "weight")
      bytes += graph::bytes_of(graph.value(node.outputs.front()).type, {});
  for (const SweepPlace& place : places) bytes -= static_cast<double>(place.stored.before);
  return static_cast<uint64_t>(std::max(bytes, 0.0));
}

/// On another device nodes take another time than they did.
EditMeter::Runs runs_of(SweepKind what) {
  return what == SweepKind::place_layers ? EditMeter::Runs::whole : EditMeter::Runs::from_the_edit;
}

/// An edit that cannot be made is a row as well; only a stop ends the sweep.
Result<SweepRow> measured_row(const EditMeter& meter, const SweepPlace& place, const std::stop_token& stop) {
  const auto start = std::chrono::steady_clock::now();
  SweepRow row{place};
  auto change = meter.measure({place.edit}, stop);
  if (change.ok()) {
    row.change = std::move(change).value();
  } else if (change.error().code == ErrorCode::cancelled) {
    return change.error();
  } else {
    row.refusal = change.error().to_string();
  }
  row.ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return row;
}

Result<Sweep> go_on(const SessionImpl& session, Sweep sweep, const SweepCallback& on_row,
                    const std::stop_token& stop) {
  const SessionStatePtr now = session.state();
  ORRERY_ASSIGN(const std::vector<SweepPlace> places, sweep_places(*now->model, sweep.request));
  std::map<std::string, std::string> conditions = conditions_of(session, *now);
  ORRERY_TRY(check_begun(sweep, conditions, places));
  sweep.conditions = std::move(conditions);
  sweep.places = places.size();
  if (sweep.request.what == SweepKind::quantise_tensors)
    sweep.other_bytes = bytes_beside(*now->model, places);
  if (sweep.complete()) return sweep;
  ORRERY_ASSIGN(const EditMeter meter,
                EditMeter::over(session, now, sweep.request.text, runs_of(sweep.request.what), stop));
  while (!sweep.complete() && !stop.stop_requested()) {
    auto row = measured_row(meter, places[sweep.rows.size()], stop);
    if (!row.ok()) break;
    sweep.rows.push_back(std::move(row).value());
    if (on_row) on_row(sweep);
  }
  return sweep;
}

}  // namespace

Result<Sweep> sweep(const Session& session, Sweep begun, const SweepCallback& on_row,
                    const std::stop_token& stop) {
  return guarded([&]() -> Result<Sweep> {
    const auto* own = dynamic_cast<const SessionImpl*>(&session);
    if (!own)
      return Error{ErrorCode::unsupported, "This session cannot be measured", session.info().name,
                   session.info().cannot_run};
    return go_on(*own, std::move(begun), on_row, stop);
  });
}

}  // namespace orrery::api
