// A run as JSON: {"kernel": "linear", "problem": ..., "versions": [{"name": ...}]}.
#include "engine/api/lab_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "engine/base/csv.h"
#include "kernels/lab/load.h"
#include "kernels/lab/published.h"

namespace orrery::api {
namespace {

using LabJson = nlohmann::ordered_json;

constexpr std::string_view kArithmeticNames[] = {"f32", "bf16", "int16", "int8", "f8"};
static_assert(std::size(kArithmeticNames) == kArithmetics);

template <class Value>
LabJson told(bool known, const Value& value) {
  return known ? LabJson(value) : LabJson();
}
/// JSON has no infinity, which is how far off a row is that wrote no number.
LabJson error_json(bool ran, double error) {
  if (!ran) return {};
  return std::isfinite(error) ? LabJson(error) : LabJson("inf");
}

double number_in(const LabJson& json, const char* name) {
  const auto found = json.find(name);
  if (found == json.end() || found->is_null()) return 0;
  return found->is_number() ? found->get<double>() : INFINITY;
}
std::string text_in(const LabJson& json, const char* name) {
  const auto found = json.find(name);
  return found == json.end() || found->is_null() ? std::string() : found->get<std::string>();
}

LabJson version_json(const LabVersion& version) {
  const bool ran = version.refused.empty(), timed = version.us > 0;
  return {{"name", version.name},
          {"refused", told(!ran, version.refused)},
          {"ok", told(ran, version.ok)},
          {"max_error", error_json(ran, version.max_error)},
          {"tolerance", told(ran, version.tolerance)},
          {"where", told(ran, version.where)},
          {"us", told(timed, version.us)},
          {"p10", told(timed, version.p10)},
          {"p90", told(timed, version.p90)},
          {"samples", version.samples},
          {"launched_us", told(version.launched_us > 0, version.launched_us)},
          {"gflops", told(timed, version.gflops)},
          {"gbytes_per_second", told(timed, version.gbytes_per_second)},
          {"share_of_limit", told(version.share_of_limit > 0, version.share_of_limit)},
          {"arithmetic", name_of(version.arithmetic)},
          {"memory", told(timed, version.memory)}};
}

Arithmetic arithmetic_in(const LabJson& json) {
  const auto* found = std::ranges::find(kArithmeticNames, text_in(json, "arithmetic"));
  return found == std::end(kArithmeticNames) ? Arithmetic::f32
                                             : static_cast<Arithmetic>(found - std::begin(kArithmeticNames));
}

LabVersion version_in(const LabJson& json) {
  LabVersion version;
  version.name = json.at("name");
  version.refused = text_in(json, "refused");
  version.ok = json.value("ok", LabJson()) == LabJson(true);
  version.max_error = number_in(json, "max_error");
  version.tolerance = number_in(json, "tolerance");
  version.where = text_in(json, "where");
  version.us = number_in(json, "us");
  version.p10 = number_in(json, "p10");
  version.p90 = number_in(json, "p90");
  version.samples = json.value("samples", 0);
  version.launched_us = number_in(json, "launched_us");
  version.gflops = number_in(json, "gflops");
  version.gbytes_per_second = number_in(json, "gbytes_per_second");
  version.share_of_limit = number_in(json, "share_of_limit");
  version.arithmetic = arithmetic_in(json);
  version.memory = json.value("memory", LabJson()) == LabJson(true);
  return version;
}

LabJson limits_json(const MachineLimits& limits) {
  LabJson reading = LabJson::array(), operations = LabJson::object();
  for (const kernels::ReadingSpeed& speed : limits.reading)
    reading.push_back({{"bytes", speed.bytes}, {"bytes_per_second", speed.bytes_per_second}});
  for (size_t i = 0; i < kArithmetics; ++i)
    if (limits.operations_per_second[i] > 0)
      operations[std::string(kArithmeticNames[i])] = limits.operations_per_second[i];
  return {{"reading", std::move(reading)}, {"operations_per_second", std::move(operations)}};
}

MachineLimits limits_in(const LabJson& json) {
  MachineLimits limits;
  const auto found = json.find("limits");
  if (found == json.end()) return limits;
  for (const LabJson& speed : found->at("reading"))
    limits.reading.push_back({speed.at("bytes"), speed.at("bytes_per_second")});
  for (size_t i = 0; i < kArithmetics; ++i)
    limits.operations_per_second[i] =
        found->at("operations_per_second").value(std::string(kArithmeticNames[i]), 0.0);
  return limits;
}

LabJson run_json(const LabRun& run) {
  LabJson versions = LabJson::array();
  for (const LabVersion& version : run.versions) versions.push_back(version_json(version));
  const std::string busy = run.busy();
  return {{"kernel", run.kernel},
          {"problem", run.problem},
          {"device", run.device},
          {"machine", run.machine},
          {"threads", run.threads},
          {"flops", run.flops},
          {"bytes", run.bytes},
          {"limits", limits_json(run.limits)},
          {"versions", std::move(versions)},
          {"busy", told(!busy.empty(), busy)},
          {"others", run.others ? LabJson(*run.others) : LabJson()}};
}

LabRun run_in(const LabJson& json) {
  LabRun run;
  run.kernel = json.at("kernel");
  run.problem = json.at("problem");
  run.device = json.at("device");
  run.machine = text_in(json, "machine");
  run.threads = json.value("threads", 0);
  run.flops = number_in(json, "flops");
  run.bytes = number_in(json, "bytes");
  run.limits = limits_in(json);
  run.limits.threads = run.threads;
  for (const LabJson& version : json.at("versions")) run.versions.push_back(version_in(version));
  const auto others = json.find("others");
  if (others != json.end() && others->is_number()) run.others = others->get<double>();
  return run;
}

std::string csv_number(double value) { return value > 0 ? fmt::format("{}", value) : std::string(); }

std::string line_text(const LabJson& json) {
  return json.dump(-1, ' ', false, LabJson::error_handler_t::replace);
}

}  // namespace

std::vector<PublishedTime> published_times(const LabRun& run) {
  // A problem may be given a name before its sizes: "decode 1x576x1536 Q4_1".
  const size_t sizes = run.problem.find_first_of("0123456789");
  const std::string_view problem = std::string_view(run.problem).substr(std::min(sizes, run.problem.size()));
  std::vector<PublishedTime> times;
  for (const kernels::lab::Published& one : kernels::lab::published_of(run.kernel)) {
    if (one.problem != problem || run.flops <= 0) continue;
    const double us = one.us > 0 ? one.us : run.flops / one.gflops * 1e-3;
    times.push_back({std::string(one.name), std::string(one.machine), std::string(one.source), us,
                     run.flops / us * 1e-3});
  }
  std::ranges::sort(times, {}, &PublishedTime::us);
  return times;
}

std::string_view name_of(Arithmetic arithmetic) { return kArithmeticNames[static_cast<size_t>(arithmetic)]; }

bool LabRun::disturbed() const { return others.value_or(0) >= kernels::lab::kBusyShare; }

std::string LabRun::busy() const {
  std::vector<std::string> signs;
  const bool taken = disturbed();
  if (taken) signs.push_back(fmt::format("other programs took {:.0f} % of the cores' time", 100 * *others));
  const auto unsteady = std::ranges::count_if(versions, &LabVersion::unsteady);
  if (unsteady > 0)
    signs.push_back(fmt::format("the samples of {} row{} lie far apart", unsteady, unsteady > 1 ? "s" : ""));
  if (signs.empty()) return "";
  return fmt::format("the machine {} busy: {}", taken ? "was" : "may have been", fmt::join(signs, "; "));
}

std::string write_lab_run(const LabRun& run) { return line_text(run_json(run)); }

Result<LabRun> parse_lab_run(std::string_view json) {
  try {
    return run_in(LabJson::parse(json));
  } catch (const std::exception& error) {
    return Error{ErrorCode::corrupt_file, "This is no run of a kernel that was saved", error.what(),
                 "run it anew"};
  }
}

std::string lab_csv(std::span<const LabRun> runs) {
  std::string text = csv_record({"kernel", "problem", "device", "machine", "row", "refused", "ok",
                                 "max_error", "tolerance", "us", "p10", "p90", "samples", "launched_us",
                                 "gflops", "gbytes_per_second", "share_of_limit", "arithmetic", "busy"});
  for (const LabRun& run : runs)
    for (const LabVersion& version : run.versions) {
      const bool ran = version.refused.empty();
      text += csv_record({run.kernel, run.problem, run.device, run.machine, version.name, version.refused,
                          !ran         ? ""
                          : version.ok ? "true"
                                       : "false",
                          ran ? fmt::format("{}", version.max_error) : "",
                          ran ? fmt::format("{}", version.tolerance) : "", csv_number(version.us),
                          csv_number(version.p10), csv_number(version.p90), std::to_string(version.samples),
                          csv_number(version.launched_us), csv_number(version.gflops),
                          csv_number(version.gbytes_per_second), csv_number(version.share_of_limit),
                          std::string(name_of(version.arithmetic)), run.busy()});
    }
  return text;
}

std::string lab_history_line(const KeptLabRun& kept) {
  LabJson json = {{"when", kept.when}, {"program", kept.program}};
  json.update(run_json(kept.run));
  return line_text(json) + "\n";
}

std::vector<KeptLabRun> parse_lab_history(std::string_view text) {
  std::vector<KeptLabRun> all;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const LabJson json = LabJson::parse(text.substr(0, end), nullptr, false);
    text.remove_prefix(std::min(end + 1, text.size()));
    try {
      if (json.is_object()) all.push_back({text_in(json, "when"), text_in(json, "program"), run_in(json)});
    } catch (const LabJson::exception&) {
    }
  }
  return all;
}

std::string lab_history_file() {
  namespace fs = std::filesystem;
  const char* data = std::getenv("XDG_DATA_HOME");
  if (data && *data) return (fs::path(data) / "orrery/lab.jsonl").string();
  const char* home = std::getenv("HOME");
  return (fs::path(home && *home ? home : ".") / ".local/share/orrery/lab.jsonl").string();
}

}  // namespace orrery::api
