#include "app/cli/classify_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace orrery::cli {
namespace {

std::string lower_ascii(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
  return text;
}

Json by_label(const std::vector<float>& probabilities, const std::vector<std::string>& labels) {
  Json object = Json::object();
  for (size_t i = 0; i < std::min(labels.size(), probabilities.size()); ++i)
    object[labels[i]] = probabilities[i];
  return object;
}

}  // namespace

Metrics measure(const std::vector<api::Classification>& results, const std::vector<std::string>& given) {
  std::set<std::string> predicted;
  for (const api::Classification& result : results) predicted.insert(result.label);
  Metrics metrics;
  int64_t right = 0;
  const size_t count = std::min(results.size(), given.size());
  for (size_t i = 0; i < count; ++i) {
    std::string label = given[i];
    for (const std::string& known : predicted)
      if (lower_ascii(known) == lower_ascii(label)) label = known;
    ++metrics.confusion[label][results[i].label];
    right += label == results[i].label ? 1 : 0;
  }
  metrics.accuracy = count > 0 ? static_cast<double>(right) / static_cast<double>(count) : 0;
  return metrics;
}

Json to_json(const api::Classification& result, const std::vector<std::string>& labels) {
  Json probabilities = by_label(result.probabilities, labels);
  if (!result.tokens.empty()) {
    Json tokens = Json::array();
    for (const api::TokenLabel& token : result.tokens)
      tokens.push_back({{"id", token.id},
                        {"piece", token.piece},
                        {"label", token.label},
                        {"probabilities", by_label(token.probabilities, labels)}});
    return {{"text", result.text}, {"tokens", std::move(tokens)}, {"ms", result.ms}};
  }
  return {{"text", result.text},
          {"label", result.label},
          {"probabilities", std::move(probabilities)},
          {"logits", result.logits},
          {"ms", result.ms}};
}

Json to_json(const Metrics& metrics) {
  Json confusion = Json::object();
  for (const auto& [label, row] : metrics.confusion) confusion[label] = Json(row);
  return {{"accuracy", metrics.accuracy}, {"confusion", std::move(confusion)}};
}

std::string confusion_table(const Metrics& metrics) {
  std::set<std::string> columns;
  for (const auto& [label, row] : metrics.confusion)
    for (const auto& [predicted, count] : row) columns.insert(predicted);
  std::string text = fmt::format("accuracy {:.4f}\n{:<16}", metrics.accuracy, "given \\ found");
  for (const std::string& column : columns) text += fmt::format(" {:>12}", column);
  for (const auto& [label, row] : metrics.confusion) {
    text += fmt::format("\n{:<16}", label);
    for (const std::string& column : columns) {
      const auto cell = row.find(column);
      text += fmt::format(" {:>12}", cell == row.end() ? 0 : cell->second);
    }
  }
  return text + "\n";
}

std::string extended_csv(const CsvTable& table, const std::vector<api::Classification>& results,
                         const std::vector<std::string>& labels) {
  std::vector<std::string> header = table.header;
  header.push_back("predicted");
  for (const std::string& label : labels) header.push_back("p_" + label);
  std::string text = csv_record(header);
  for (size_t i = 0; i < std::min(results.size(), table.rows.size()); ++i) {
    std::vector<std::string> row = table.rows[i];
    row.push_back(results[i].label);
    for (const float probability : results[i].probabilities)
      row.push_back(fmt::format("{:.6f}", probability));
    text += csv_record(row);
  }
  return text;
}

}  // namespace orrery::cli
