// What is made of classifications: metrics against given labels, and the table with its new columns.
#pragma once

#include "app/cli/output.h"
#include "engine/api/types.h"
#include "engine/base/csv.h"

namespace orrery::cli {

/// How predictions compare with what the person says; labels as text, case ignored where the model has no
/// such label.
struct Metrics {
  double accuracy = 0;
  std::map<std::string, std::map<std::string, int64_t>> confusion;  // given label -> predicted label -> count
};
Metrics measure(const std::vector<api::Classification>& results, const std::vector<std::string>& given);

Json to_json(const api::Classification& result, const std::vector<std::string>& labels);
Json to_json(const Metrics& metrics);
std::string confusion_table(const Metrics& metrics);

/// The table with "predicted" and one probability column a label.
std::string extended_csv(const CsvTable& table, const std::vector<api::Classification>& results,
                         const std::vector<std::string>& labels);

}  // namespace orrery::cli
