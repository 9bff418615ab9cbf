#include "engine/base/csv.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery {
namespace {

Error bad_csv(std::string what, size_t line) {
  return {ErrorCode::invalid_argument, std::move(what), fmt::format("CSV line {}", line),
          "Correct the file, or write it again with quotes around such fields"};
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {
    if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;
  }
  bool at_end() const { return at_ >= text_.size(); }
  size_t line() const { return line_; }
  /// An empty line; a line of one empty field in quotes is a record.
  bool skip_empty_line() {
    if (!at_line_end()) return false;
    take_line_end();
    return true;
  }

  Result<std::vector<std::string>> record() {
    std::vector<std::string> fields;
    for (;;) {
      ORRERY_ASSIGN(std::string field, this->field());
      fields.push_back(std::move(field));
      if (at_end() || text_[at_] != ',') break;
      ++at_;
    }
    take_line_end();
    return fields;
  }

 private:
  bool at_line_end() const {
    return at_end() || text_[at_] == '\n' ||
           (text_[at_] == '\r' && (at_ + 1 >= text_.size() || text_[at_ + 1] == '\n'));
  }
  void take_line_end() {
    if (!at_end() && text_[at_] == '\r') ++at_;
    if (!at_end() && text_[at_] == '\n') ++at_;
    ++line_;
  }

  Result<std::string> field() {
    if (at_end() || text_[at_] != '"') {
      const size_t begin = at_;
      while (!at_line_end() && text_[at_] != ',') ++at_;
      return std::string(text_.substr(begin, at_ - begin));
    }
    std::string value;
    const size_t opened = line_;
    for (++at_; !at_end(); ++at_) {
      if (text_[at_] == '"' && (at_ + 1 >= text_.size() || text_[at_ + 1] != '"')) break;
      if (text_[at_] == '"') ++at_;
      if (text_[at_] == '\n') ++line_;
      value += text_[at_];
    }
    if (at_end()) return bad_csv("A quote is not closed", opened);
    ++at_;
    if (!at_line_end() && text_[at_] != ',') return bad_csv("There is text after a closing quote", line_);
    return value;
  }

  std::string_view text_;
  size_t at_ = 0, line_ = 1;
};

}  // namespace

std::optional<size_t> CsvTable::column(std::string_view name) const {
  const auto found = std::find(header.begin(), header.end(), name);
  return found == header.end() ? std::nullopt : std::optional(static_cast<size_t>(found - header.begin()));
}

Result<CsvTable> parse_csv(std::string_view text) {
  Reader reader(text);
  CsvTable table;
  while (!reader.at_end()) {
    if (reader.skip_empty_line()) continue;
    const size_t line = reader.line();
    ORRERY_ASSIGN(std::vector<std::string> fields, reader.record());
    if (table.header.empty()) {
      table.header = std::move(fields);
    } else if (fields.size() != table.header.size()) {
      return bad_csv(fmt::format("A row has {} fields, the header {}", fields.size(), table.header.size()),
                     line);
    } else {
      table.rows.push_back(std::move(fields));
    }
  }
  if (table.header.empty())
    return Error{ErrorCode::invalid_argument, "The table has no header line", "CSV line 1",
                 "Name the columns in the first line"};
  return table;
}

std::string csv_record(const std::vector<std::string>& fields) {
  std::string record;
  for (size_t i = 0; i < fields.size(); ++i) {
    if (i > 0) record += ',';
    // A record of one empty field would read as an empty line.
    const bool quote =
        fields[i].find_first_of(",\"\r\n") != std::string::npos || (fields.size() == 1 && fields[i].empty());
    if (!quote) {
      record += fields[i];
      continue;
    }
    record += '"';
    for (const char c : fields[i]) record += c == '"' ? "\"\"" : std::string(1, c);
    record += '"';
  }
  return record + "\r\n";
}

}  // namespace orrery
