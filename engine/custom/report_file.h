// report.json in the cache: what passed, and the hash of each file that may be loaded for it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "engine/custom/quarantine.h"

namespace orrery::custom {

/// What a trial found that passed.
struct PassedTrial {
  std::vector<Check> checks;
  std::vector<TrialCase> cases;
};

struct ReportFile {
  std::string name, doc, content;
  PassedTrial cpu;
  std::map<std::string, std::string, std::less<>> files;  // hashes by name
  std::map<std::string, PassedTrial, std::less<>> cards;  // by architecture
};

std::string write_report(const ReportFile& report);
/// Nothing for any other text.
std::optional<ReportFile> parse_report(std::string_view text);

}  // namespace orrery::custom
