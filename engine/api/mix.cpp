#include "engine/api/mix.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "engine/edit/quantise.h"
#include "kernels/dtype.h"

namespace orrery::api {
namespace {

using MixChoice = MixTensor::Choice;

Error no_mix(std::string what, std::string where, std::string advice) {
  return {ErrorCode::invalid_argument, std::move(what), std::move(where), std::move(advice)};
}

/// Of one model and one text, though of different types.
Result<void> check_alike(const Sweep& first, const Sweep& other) {
  if (first.request.text != other.request.text)
    return no_mix("The sweeps read different texts", other.request.to, "sweep all types over one text");
  for (const auto& [name, value] : first.conditions)
    if (const auto there = other.conditions.find(name);
        there == other.conditions.end() || there->second != value)
      return no_mix(fmt::format("The sweeps were made under different conditions ({})", name),
                    other.request.to, "sweep all types of the same model, opened alike");
  return {};
}

double elements_in(uint64_t bytes, DType type) {
  const DTypeInfo info = dtype_info(type);
  return static_cast<double>(bytes) / static_cast<double>(info.block_bytes) *
         static_cast<double>(info.block_elements);
}

/// Of the choices those on the lower left of all: each saves bytes over the next, and none lies above the
/// line between its neighbours.
std::vector<MixChoice> worthwhile(std::vector<MixChoice> choices) {
  std::ranges::stable_sort(choices, [](const MixChoice& a, const MixChoice& b) {
    return a.bytes != b.bytes ? a.bytes < b.bytes : a.distance < b.distance;
  });
  std::vector<MixChoice> kept;
  for (MixChoice& choice : choices) {
    if (!kept.empty() && choice.distance >= kept.back().distance) continue;
    const auto gain = [](const MixChoice& from, const MixChoice& to) {
      return (from.distance - to.distance) / static_cast<double>(to.bytes - from.bytes);
    };
    while (kept.size() > 1 && gain(kept[kept.size() - 2], kept.back()) <= gain(kept.back(), choice))
      kept.pop_back();
    kept.push_back(std::move(choice));
  }
  return kept;
}

/// One better choice of one tensor.
struct Better {
  size_t tensor = 0, choice = 0;  // that it is then
  uint64_t bytes = 0;             // more
  double gain = 0;                // of distance
};

/// Those that bring the most for their bytes first. Of one tensor they come in its order, as its choices
/// bring less and less.
std::vector<Better> betters_of(const MixTable& table) {
  std::vector<Better> betters;
  for (size_t t = 0; t < table.tensors.size(); ++t) {
    const std::vector<MixChoice>& choices = table.tensors[t].choices;
    for (size_t c = 1; c < choices.size(); ++c)
      betters.push_back(
          {t, c, choices[c].bytes - choices[c - 1].bytes, choices[c - 1].distance - choices[c].distance});
  }
  std::ranges::stable_sort(betters, std::greater<>(), [](const Better& better) {
    return better.gain / static_cast<double>(better.bytes);
  });
  return betters;
}

Mix smallest(const MixTable& table) {
  Mix mix{std::vector<size_t>(table.tensors.size(), 0), table.other_bytes, 0};
  for (const MixTensor& tensor : table.tensors) {
    mix.bytes += tensor.choices.front().bytes;
    mix.distance += tensor.choices.front().distance;
  }
  return mix;
}

void take(Mix& mix, const Better& better) {
  mix.choices[better.tensor] = better.choice;
  mix.bytes += better.bytes;
  mix.distance = std::max(mix.distance - better.gain, 0.0);
}

}  // namespace

uint64_t MixTable::least_bytes() const {
  uint64_t bytes = other_bytes;
  for (const MixTensor& tensor : tensors) bytes += tensor.choices.front().bytes;
  return bytes;
}

uint64_t MixTable::most_bytes() const {
  uint64_t bytes = other_bytes;
  for (const MixTensor& tensor : tensors) bytes += tensor.choices.back().bytes;
  return bytes;
}

double MixTable::bits_of(uint64_t bytes) const {
  double elements = 0;
  for (const MixTensor& tensor : tensors) elements += tensor.elements;
  const double own = static_cast<double>(bytes) - static_cast<double>(other_bytes);
  return elements > 0 ? 8 * own / elements : 0;
}

uint64_t MixTable::bytes_of(double bits) const {
  double elements = 0;
  for (const MixTensor& tensor : tensors) elements += tensor.elements;
  return other_bytes + static_cast<uint64_t>(std::max(bits, 0.0) * elements / 8);
}

Result<MixTable> mix_table(std::span<const Sweep> sweeps) {
  MixTable table;
  std::map<std::string, size_t> places;
  for (const Sweep& sweep : sweeps) {
    if (sweep.request.what != SweepKind::quantise_tensors)
      return no_mix("A mix is made of sweeps over types of tensors", std::string(name_of(sweep.request.what)),
                    "sweep quantise-tensors");
    ORRERY_TRY(check_alike(sweeps.front(), sweep));
    table.other_bytes = sweep.other_bytes;
    for (const SweepRow& row : sweep.rows) {
      if (row.stored.before == 0)
        return no_mix("The sweep does not say what its tensors take", row.scope, "sweep again");
      const auto [place, added] = places.emplace(row.scope, table.tensors.size());
      if (added) table.tensors.push_back({row.scope, 0, {{"", row.stored.before, 0}}});
      if (const auto type = edit::quantised_type(sweep.request.to))
        table.tensors[place->second].elements =
            std::max(table.tensors[place->second].elements, elements_in(row.stored.after, *type));
      const double distance = distance_of(row.change);
      if (row.refusal.empty() && row.stored.after > 0 && std::isfinite(distance))
        table.tensors[place->second].choices.push_back({sweep.request.to, row.stored.after, distance});
    }
  }
  if (table.tensors.empty())
    return no_mix("There is no row to choose from", "", "sweep quantise-tensors in one type at least");
  for (MixTensor& tensor : table.tensors) tensor.choices = worthwhile(std::move(tensor.choices));
  return table;
}

Result<Mix> mix_for(const MixTable& table, uint64_t most_bytes) {
  Mix mix = smallest(table);
  if (mix.bytes > most_bytes)
    return no_mix(
        fmt::format("The smallest mix of these types takes {} bytes, not {}", mix.bytes, most_bytes),
        "the size of the mix", "give a larger one, or sweep a smaller type too");
  std::vector<bool> full(table.tensors.size(), false);  // its next choice does not fit
  for (const Better& better : betters_of(table)) {
    if (full[better.tensor]) continue;
    if (mix.bytes + better.bytes > most_bytes)
      full[better.tensor] = true;
    else
      take(mix, better);
  }
  return mix;
}

std::vector<Mix> mix_curve(const MixTable& table) {
  std::vector<Mix> curve{smallest(table)};
  for (const Better& better : betters_of(table)) {
    curve.push_back(curve.back());
    take(curve.back(), better);
  }
  return curve;
}

std::vector<edit::Edit> edits_of(const MixTable& table, const Mix& mix) {
  std::map<std::string, std::string> scopes;  // by type
  for (size_t t = 0; t < table.tensors.size(); ++t) {
    const MixTensor& tensor = table.tensors[t];
    const std::string& type = tensor.choices[mix.choices[t]].type;
    if (type.empty()) continue;
    std::string& pattern = scopes[type];
    pattern += (pattern.empty() ? "" : ",") + tensor.scope;
  }
  std::vector<edit::Edit> edits;
  for (auto& [type, pattern] : scopes)
    edits.push_back({"quantise", {{"scope", std::move(pattern)}, {"type", type}}});
  return edits;
}

}  // namespace orrery::api
