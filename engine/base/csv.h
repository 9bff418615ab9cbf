// Tables as RFC 4180 writes them: fields in quotes may hold commas, quotes ("") and line breaks.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"

namespace orrery {

struct CsvTable {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;  // each as wide as the header

  /// Place of the column with this name; nothing when there is none.
  std::optional<size_t> column(std::string_view name) const;
};

/// Lines end with CR LF or LF; empty lines and a byte order mark are passed over. Refused, with its line: a
/// quote that is not closed, text after a closing quote, a row of another width, no header at all.
Result<CsvTable> parse_csv(std::string_view text);

/// One record with its CR LF. Fields are quoted where they must be.
std::string csv_record(const std::vector<std::string>& fields);

}  // namespace orrery
