// A sweep as a file: {"orrery_sweep": 1, "what": "bypass-layers", ..., "rows": [{"scope": ...}]}.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/api/sweep.h"

namespace orrery::api {
namespace {

using SweepJson = nlohmann::ordered_json;

constexpr int kSweepVersion = 1;

// JSON has no infinity: what is infinitely far is written in words.
template <class Number>
SweepJson number_json(Number value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}
template <class Number>
Number number_of(const SweepJson& json) {
  if (json.is_number()) return json.get<Number>();
  return static_cast<Number>(std::stod(json.get<std::string>()));
}

SweepJson optional_json(const std::optional<double>& value) {
  return value ? number_json(*value) : SweepJson();
}
std::optional<double> optional_of(const SweepJson& json) {
  return json.is_null() ? std::nullopt : std::optional(number_of<double>(json));
}

SweepJson memory_json(const MemoryUse& use) { return {use.weights, use.kv_cache, use.scratch}; }
MemoryUse memory_of_json(const SweepJson& json) {
  return {json.at(0).get<uint64_t>(), json.at(1).get<uint64_t>(), json.at(2).get<uint64_t>()};
}

SweepJson change_json(const MeasuredChange& change) {
  SweepJson kl = SweepJson::array(), memory = SweepJson::array();
  for (const float value : change.kl_by_position) kl.push_back(number_json(value));
  for (const MemoryChange& device : change.memory)
    memory.push_back({{"device", device.device},
                      {"name", device.name},
                      {"before", memory_json(device.before)},
                      {"after", memory_json(device.after)}});
  return {{"kl", optional_json(change.kl)},
          {"top1", optional_json(change.top1_agreement)},
          {"cosine", optional_json(change.cosine)},
          {"tokens", change.tokens},
          {"positions", change.positions},
          {"kl_by_position", std::move(kl)},
          {"nll_before", optional_json(change.nll_before)},
          {"nll_after", optional_json(change.nll_after)},
          {"tokens_per_second_before", optional_json(change.tokens_per_second_before)},
          {"tokens_per_second_after", optional_json(change.tokens_per_second_after)},
          {"memory", std::move(memory)}};
}

MeasuredChange change_of(const SweepJson& json) {
  MeasuredChange change;
  change.kl = optional_of(json.at("kl"));
  change.top1_agreement = optional_of(json.at("top1"));
  change.cosine = optional_of(json.at("cosine"));
  change.tokens = json.at("tokens");
  change.positions = json.at("positions");
  for (const SweepJson& value : json.at("kl_by_position"))
    change.kl_by_position.push_back(number_of<float>(value));
  change.nll_before = optional_of(json.at("nll_before"));
  change.nll_after = optional_of(json.at("nll_after"));
  change.tokens_per_second_before = optional_of(json.at("tokens_per_second_before"));
  change.tokens_per_second_after = optional_of(json.at("tokens_per_second_after"));
  for (const SweepJson& device : json.at("memory"))
    change.memory.push_back({device.at("device"), device.at("name"), memory_of_json(device.at("before")),
                             memory_of_json(device.at("after"))});
  return change;
}

SweepJson row_json(const SweepRow& row) {
  SweepJson json = {{"scope", row.scope}, {"edit", row.edit.to_string()}, {"ms", row.ms}};
  json[row.refusal.empty() ? "change" : "refusal"] =
      row.refusal.empty() ? change_json(row.change) : SweepJson(row.refusal);
  return json;
}

Result<SweepRow> row_of(const SweepJson& json) {
  SweepRow row;
  row.scope = json.at("scope");
  ORRERY_ASSIGN(row.edit, edit::parse_edit(json.at("edit").get<std::string>()));
  row.ms = json.at("ms");
  if (json.contains("refusal")) {
    row.refusal = json.at("refusal");
  } else {
    row.change = change_of(json.at("change"));
  }
  return row;
}

Error no_sweep(std::string_view why) {
  return {ErrorCode::corrupt_file, "This is no sweep that was saved", std::string(why), "begin a new one"};
}

Result<Sweep> sweep_of(const SweepJson& json) {
  if (json.at("orrery_sweep") != kSweepVersion) return no_sweep("of another version");
  Sweep sweep;
  const std::string what = json.at("what");
  const auto* kind = std::ranges::find(kSweepKinds, what, [](SweepKind each) { return name_of(each); });
  if (kind == std::end(kSweepKinds)) return no_sweep(fmt::format("what: {}", what.substr(0, 80)));
  sweep.request = {*kind, json.at("to"), json.at("text")};
  sweep.places = json.at("places");
  sweep.conditions = json.at("conditions").get<std::map<std::string, std::string>>();
  for (const SweepJson& each : json.at("rows")) {
    ORRERY_ASSIGN(SweepRow row, row_of(each));
    sweep.rows.push_back(std::move(row));
  }
  return sweep;
}

}  // namespace

std::string write_sweep(const Sweep& sweep) {
  SweepJson rows = SweepJson::array();
  for (const SweepRow& row : sweep.rows) rows.push_back(row_json(row));
  const SweepJson json = {{"orrery_sweep", kSweepVersion},  {"what", name_of(sweep.request.what)},
                          {"to", sweep.request.to},         {"text", sweep.request.text},
                          {"conditions", sweep.conditions}, {"places", sweep.places},
                          {"rows", std::move(rows)}};
  return json.dump(1, ' ', false, SweepJson::error_handler_t::replace) + "\n";
}

Result<Sweep> parse_sweep(std::string_view json) {
  try {
    return sweep_of(SweepJson::parse(json));
  } catch (const std::exception& error) {
    return no_sweep(std::string_view(error.what()).substr(0, 200));
  }
}

}  // namespace orrery::api
