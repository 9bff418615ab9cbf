#include "engine/custom/report_file.h"

#include <nlohmann/json.hpp>

namespace orrery::custom {
namespace {

using ReportJson = nlohmann::ordered_json;

ReportJson json_of(const PassedTrial& trial) {
  ReportJson checks = ReportJson::array(), cases = ReportJson::array();
  for (const Check& check : trial.checks) checks.push_back(check.text);
  for (const TrialCase& one : trial.cases)
    cases.push_back({{"body", one.body},
                     {"case", one.words},
                     {"device", one.device},
                     {"against", one.against},
                     {"difference", one.difference},
                     {"allowed", one.allowed},
                     {"us", one.us}});
  return {{"checks", std::move(checks)}, {"cases", std::move(cases)}};
}

PassedTrial trial_in(const ReportJson& json) {
  PassedTrial trial;
  for (const ReportJson& text : json.at("checks")) trial.checks.push_back({true, text.get<std::string>()});
  for (const ReportJson& one : json.at("cases"))
    trial.cases.push_back({one.at("body"), one.at("case"), one.at("device"), one.at("against"),
                           one.at("difference"), one.at("allowed"), one.at("us")});
  return trial;
}

}  // namespace

std::string write_report(const ReportFile& report) {
  ReportJson json = {{"orrery_own_op", 1},           {"name", report.name},        {"doc", report.doc},
                     {"content", report.content},    {"cpu", json_of(report.cpu)}, {"files", report.files},
                     {"cards", ReportJson::object()}};
  for (const auto& [card, trial] : report.cards) json["cards"][card] = json_of(trial);
  return json.dump(2, ' ', false, ReportJson::error_handler_t::replace) + "\n";
}

std::optional<ReportFile> parse_report(std::string_view text) {
  try {
    const ReportJson json = ReportJson::parse(text);
    if (json.at("orrery_own_op") != 1) return std::nullopt;
    ReportFile report{json.at("name"), json.at("doc"), json.at("content"), trial_in(json.at("cpu")), {}, {}};
    for (const auto& [name, hash] : json.at("files").items()) report.files[name] = hash.get<std::string>();
    for (const auto& [card, trial] : json.at("cards").items()) report.cards[card] = trial_in(trial);
    return report;
  } catch (const ReportJson::exception&) {
    return std::nullopt;
  }
}

}  // namespace orrery::custom
