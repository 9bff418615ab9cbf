// A sweep as a file: {"orrery_sweep": 1, "what": "bypass-layers", ..., "rows": [{"scope": ...}]}.
#include <fmt/format.h>

#include <algorithm>
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
  if (row.stored.before > 0) json["stored"] = {row.stored.before, row.stored.after};
  json[row.refusal.empty() ? "change" : "refusal"] =
      row.refusal.empty() ? change_json(row.change) : SweepJson(row.refusal);
  return json;
}

Result<SweepRow> row_of(const SweepJson& json) {
  SweepRow row;
  row.scope = json.at("scope");
  ORRERY_ASSIGN(row.edit, edit::parse_edit(json.at("edit").get<std::string>()));
  row.ms = json.at("ms");
  if (const auto stored = json.find("stored"); stored != json.end())
    row.stored = {stored->at(0).get<uint64_t>(), stored->at(1).get<uint64_t>()};
  if (json.contains("refusal")) {
    row.refusal = json.at("refusal");
  } else {
    row.change = change_of(json.at("change"));
  }
  return row;
}

/// In quotes where it needs them.
std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char letter : text) quoted += letter == '"' ? std::string("\"\"") : std::string(1, letter);
  return quoted + "\"";
}
/// Empty where there is none, and where it is no number.
std::string csv_field(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? SweepJson(*value).dump() : std::string();
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
  sweep.other_bytes = json.value("other_bytes", uint64_t{0});
  sweep.conditions = json.at("conditions").get<std::map<std::string, std::string>>();
  for (const SweepJson& each : json.at("rows")) {
    ORRERY_ASSIGN(SweepRow row, row_of(each));
    sweep.rows.push_back(std::move(row));
  }
  return sweep;
}

}  // namespace

std::string_view name_of(SweepKind kind) {
  switch (kind) {
    case SweepKind::bypass_layers:
      return "bypass-layers";
    case SweepKind::quantise_tensors:
      return "quantise-tensors";
    case SweepKind::zero_heads:
      return "zero-heads";
    case SweepKind::precision:
      return "precision";
    case SweepKind::place_layers:
      return "place-layers";
  }
  return "";
}

std::vector<std::string> choices_of(SweepKind kind) {
  const edit::Field* field = kind == SweepKind::quantise_tensors ? edit::find_verb("quantise")->field("type")
                             : kind == SweepKind::precision ? edit::find_verb("precision")->field("dtype")
                                                            : nullptr;
  return field ? std::vector<std::string>(field->choices.begin(), field->choices.end())
               : std::vector<std::string>();
}

std::string write_sweep(const Sweep& sweep) {
  SweepJson rows = SweepJson::array();
  for (const SweepRow& row : sweep.rows) rows.push_back(row_json(row));
  const SweepJson json = {{"orrery_sweep", kSweepVersion},    {"what", name_of(sweep.request.what)},
                          {"to", sweep.request.to},           {"text", sweep.request.text},
                          {"conditions", sweep.conditions},   {"places", sweep.places},
                          {"other_bytes", sweep.other_bytes}, {"rows", std::move(rows)}};
  return json.dump(1, ' ', false, SweepJson::error_handler_t::replace) + "\n";
}

std::string sweep_csv_line(const SweepRow* row) {
  static constexpr const char* kNames = "scope,edit,kl,top1,nll,cosine,tokens_per_second,bytes,ms,refusal";
  if (!row) return std::string(kNames) + "\n";
  const MeasuredChange& change = row->change;
  const bool measured = row->refusal.empty();
  const std::string fields[] = {csv_field(row->scope),
                                csv_field(row->edit.to_string()),
                                csv_field(change.kl),
                                csv_field(change.top1_agreement),
                                csv_field(change.nll_after),
                                csv_field(change.cosine),
                                csv_field(change.tokens_per_second_after),
                                measured ? std::to_string(weight_bytes(change)) : "",
                                csv_field(row->ms),
                                csv_field(row->refusal)};
  return fmt::format("{}\n", fmt::join(fields, ","));
}

std::string sweep_csv(const Sweep& sweep) {
  std::string lines = sweep_csv_line(nullptr);
  for (const SweepRow& row : sweep.rows) lines += sweep_csv_line(&row);
  return lines;
}

uint64_t weight_bytes(const MeasuredChange& change) {
  uint64_t bytes = 0;
  for (const MemoryChange& device : change.memory) bytes += device.after.weights;
  return bytes;
}

double distance_of(const MeasuredChange& change) {
  return change.kl ? *change.kl : 1 - change.cosine.value_or(0);
}

std::vector<edit::Edit> cheapest_edits(const Sweep& sweep, size_t count) {
  std::vector<const SweepRow*> rows;
  for (const SweepRow& row : sweep.rows)
    if (row.refusal.empty()) rows.push_back(&row);
  std::ranges::stable_sort(rows, {}, [](const SweepRow* row) { return distance_of(row->change); });
  rows.resize(std::min(count, rows.size()));
  std::vector<edit::Edit> edits;
  for (const SweepRow* row : rows) edits.push_back(row->edit);
  return edits;
}

Result<Sweep> parse_sweep(std::string_view json) {
  try {
    return sweep_of(SweepJson::parse(json));
  } catch (const std::exception& error) {
    return no_sweep(std::string_view(error.what()).substr(0, 200));
  }
}

}  // namespace orrery::api
