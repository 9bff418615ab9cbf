#include "ui/sweep/bit_counts.h"

#include <QStringList>
#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

namespace orrery::ui {
namespace {

/// "layers.3.attention.q_proj" -> "attention.q_proj": the same for every layer.
std::string_view roleOf(std::string_view scope) {
  const auto numbered = [](std::string_view part) {
    return !part.empty() && part.find_first_not_of("0123456789") == std::string_view::npos;
  };
  std::string_view role = scope;
  for (size_t begin = 0; begin < scope.size();) {
    const size_t end = std::min(scope.find('.', begin), scope.size());
    if (numbered(scope.substr(begin, end - begin)) && end < scope.size()) role = scope.substr(end + 1);
    begin = end + 1;
  }
  return role;
}

std::string_view lastPart(std::string_view role) { return role.substr(role.rfind('.') + 1); }

/// To a tenth: what the blocks of a type take, wherever the rest of a row falls.
int tenthsOf(const api::MixTensor& tensor, const api::MixTensor::Choice& choice) {
  return static_cast<int>(std::lround(80.0 * static_cast<double>(choice.bytes) / tensor.elements));
}

QString nameOf(const api::MixTensor::Choice& choice) {
  return choice.type.empty() ? QStringLiteral("as it is") : QString::fromStdString(choice.type).toUpper();
}

}  // namespace

BitCounts bitCounts(const api::MixTable& table, const api::Mix& mix) {
  BitCounts counted;
  std::map<int, QStringList> levels;
  for (const api::MixTensor& tensor : table.tensors)
    for (const api::MixTensor::Choice& choice : tensor.choices) {
      QStringList& names = levels[tenthsOf(tensor, choice)];
      if (!names.contains(nameOf(choice))) names += nameOf(choice);
    }
  for (const auto& [tenths, names] : levels)
    counted.levels.push_back({names.join(QStringLiteral(", ")), tenths / 10.0});

  std::map<std::string_view, int> sharing;  // roles that end alike are told in full
  std::map<std::string_view, size_t> rows;
  std::vector<double> elements, bits;
  for (size_t t = 0; t < table.tensors.size(); ++t) {
    const api::MixTensor& tensor = table.tensors[t];
    const std::string_view role = roleOf(tensor.scope);
    const auto [row, isNew] = rows.try_emplace(role, rows.size());
    if (isNew) {
      ++sharing[lastPart(role)];
      counted.rows.push_back({QString::fromUtf8(role.data(), static_cast<qsizetype>(role.size())),
                              std::vector<int>(levels.size()), 0});
      elements.push_back(0);
      bits.push_back(0);
    }
    const api::MixTensor::Choice& choice = tensor.choices[mix.choices[t]];
    const auto level = std::distance(levels.begin(), levels.find(tenthsOf(tensor, choice)));
    ++counted.rows[row->second].counts[static_cast<size_t>(level)];
    elements[row->second] += tensor.elements;
    bits[row->second] += 8.0 * static_cast<double>(choice.bytes);
  }
  for (const auto& [role, row] : rows) {
    const std::string_view shortest = lastPart(role);
    if (sharing[shortest] == 1)
      counted.rows[row].name = QString::fromUtf8(shortest.data(), static_cast<qsizetype>(shortest.size()));
    counted.rows[row].bits = bits[row] / elements[row];
  }
  return counted;
}

}  // namespace orrery::ui
