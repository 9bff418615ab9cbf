#include "app/cli/trace.h"

#include "app/cli/output.h"

namespace orrery::cli {
namespace {

constexpr int kProcess = 1;
constexpr double kGapUs = 100;  // between the phases

Json named(std::string_view kind, int thread, std::string_view name) {
  return {{"name", kind}, {"ph", "M"}, {"pid", kProcess}, {"tid", thread}, {"args", {{"name", name}}}};
}

Json complete(std::string_view name, std::string_view category, int thread, double start, double length,
              Json arguments) {
  return {{"name", name},  {"cat", category}, {"ph", "X"},     {"ts", start},
          {"dur", length}, {"pid", kProcess}, {"tid", thread}, {"args", std::move(arguments)}};
}

}  // namespace

std::string trace_json(const graph::Graph& fused, const std::vector<api::Profile>& profiles,
                       const std::string& title) {
  Json events = Json::array();
  events.push_back(named("process_name", 0, "orrery: " + title));
  double start = 0;
  int thread = 0;
  for (const api::Profile& profile : profiles) {
    const char* phase = profile.phase == api::Phase::prefill ? "prefill" : "decode";
    events.push_back(named("thread_name", ++thread, phase));
    double at = start;
    for (const api::NodeTiming& timing : profile.fused) {
      const graph::Node* node = fused.find(timing.node);
      const std::string name = node ? node->path() : "?";
      events.push_back(complete(name, node ? node->op->name : "", thread, at, timing.mean_us,
                                {{"op", node ? node->op->name : ""},
                                 {"p50_us", timing.p50_us},
                                 {"p95_us", timing.p95_us},
                                 {"bytes", timing.bytes},
                                 {"flops", timing.flops}}));
      at += timing.mean_us;
    }
    start = at + kGapUs;
  }
  const Json document = {{"traceEvents", std::move(events)}, {"displayTimeUnit", "ms"}};
  return document.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace orrery::cli
