#include "tests/bench/report.h"

#include <cmath>
#include <cstdio>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace orrery::kernels::bench {
namespace {

using nlohmann::ordered_json;

constexpr std::string_view kArithmeticNames[] = {"f32", "bf16", "int16", "int8", "f8"};
static_assert(std::size(kArithmeticNames) == kArithmetics);

ordered_json number(double value) {
  return std::isfinite(value) ? ordered_json(value) : ordered_json(nullptr);
}

double number_of(const ordered_json& json) {
  return json.is_null() ? std::numeric_limits<double>::infinity() : json.get<double>();
}

ordered_json json_of(const lab::Record& record) {
  ordered_json json{{"op", record.op},
                    {"problem", record.problem},
                    {"row", record.row},
                    {"arithmetic", kArithmeticNames[static_cast<size_t>(record.arithmetic)]},
                    {"bytes", record.work.bytes},
                    {"flops", record.work.flops}};
  if (!record.refusal.empty()) json["refusal"] = record.refusal;
  if (const auto& agreement = record.agreement)
    json["agreement"] = {{"ok", agreement->ok},
                         {"max_error", number(agreement->max_error)},
                         {"tolerance", agreement->tolerance},
                         {"nmse", number(agreement->nmse)},
                         {"where", agreement->where}};
  if (const auto& times = record.times) {
    json["us"] = {{"median", times->median}, {"p10", times->p10}, {"p90", times->p90}};
    if (times->launched > 0) json["us"]["launched"] = times->launched;
    json["samples"] = times->samples;
    json["operands"] = times->memory ? "memory" : "cache";
    json["clock"] = times->processor_time ? "processor" : "wall";
    json["gbytes_per_second"] = record.gbytes_per_second();
    json["gflops"] = record.gflops();
    if (record.share_of_limit > 0) json["share_of_limit"] = record.share_of_limit;
  }
  return json;
}

Arithmetic arithmetic_of(const std::string& name) {
  for (size_t i = 0; i < kArithmetics; ++i)
    if (kArithmeticNames[i] == name) return static_cast<Arithmetic>(i);
  throw std::runtime_error("no arithmetic is called " + name);
}

lab::Record record_of(const ordered_json& json) {
  lab::Record record{.op = json.at("op"),
                     .problem = json.at("problem"),
                     .row = json.at("row"),
                     .refusal = json.value("refusal", ""),
                     .arithmetic = arithmetic_of(json.at("arithmetic")),
                     .work = {.bytes = json.at("bytes"), .flops = json.at("flops")},
                     .share_of_limit = json.value("share_of_limit", 0.0)};
  if (json.contains("agreement")) {
    const ordered_json& agreement = json["agreement"];
    record.agreement = lab::Agreement{.ok = agreement.at("ok"),
                                      .max_error = number_of(agreement.at("max_error")),
                                      .tolerance = agreement.at("tolerance"),
                                      .nmse = number_of(agreement.at("nmse")),
                                      .where = agreement.at("where")};
  }
  if (json.contains("us")) {
    const ordered_json& us = json["us"];
    record.times = lab::Times{.median = us.at("median"),
                              .p10 = us.at("p10"),
                              .p90 = us.at("p90"),
                              .launched = us.value("launched", 0.0),
                              .samples = json.at("samples"),
                              .memory = json.at("operands") == "memory",
                              .processor_time = json.at("clock") == "processor"};
  }
  return record;
}

}  // namespace

std::string line_of(const lab::Record& record) {
  const std::string name = record.op + " " + record.problem;
  char text[512];
  std::snprintf(text, sizeof text, "%-52s %-28s ", name.c_str(), record.row.c_str());
  return text + lab::outcome_of(record);
}

std::string to_json(const Report& report) {
  const lab::MachineFacts& machine = report.machine;
  ordered_json json{{"date", report.date},
                    {"command", report.command},
                    {"machine",
                     {{"cpu", machine.cpu},
                      {"features", machine.features},
                      {"cores", machine.cores},
                      {"threads", machine.threads}}},
                    {"records", ordered_json::array()}};
  if (!machine.device.empty())
    json["machine"]["device"] = {
        {"name", machine.device}, {"architecture", machine.architecture}, {"driver", machine.driver}};
  for (const lab::Record& record : report.records) json["records"].push_back(json_of(record));
  return json.dump(1);
}

Report report_of(const std::string& text) try {
  const ordered_json json = ordered_json::parse(text);
  const ordered_json& machine = json.at("machine");
  Report report{.date = json.at("date"),
                .command = json.at("command"),
                .machine = {.cpu = machine.at("cpu"),
                            .features = machine.at("features"),
                            .cores = machine.at("cores"),
                            .threads = machine.at("threads")},
                .records = {}};
  if (machine.contains("device")) {
    report.machine.device = machine["device"].at("name");
    report.machine.architecture = machine["device"].at("architecture");
    report.machine.driver = machine["device"].at("driver");
  }
  for (const ordered_json& record : json.at("records")) report.records.push_back(record_of(record));
  return report;
} catch (const nlohmann::json::exception& error) {
  throw std::runtime_error(std::string("no report of a benchmark: ") + error.what());
}

}  // namespace orrery::kernels::bench
