// How the command line speaks: JSON and results on stdout, everything else on stderr.
#pragma once

#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "app/cli/context.h"
#include "engine/base/progress.h"

namespace orrery::cli {

// Keys in the order in which they are written here.
using Json = nlohmann::ordered_json;

bool stdout_is_terminal();
bool stderr_is_terminal();

/// Invalid UTF-8 is replaced: token pieces may be part of a character.
void print_json(const Json& document);
void print(std::string_view text);                         // to stdout, as it is
void print_now(std::string_view text);                     // and seen at once
void note(const Context& context, std::string_view line);  // to stderr, unless quiet

/// "error: WHAT (WHERE): WHAT TO DO", always one line.
void print_error(const Error& error);
void print_usage_error(std::string_view text);

std::string readable_bytes(uint64_t bytes);  // "98.4 MB"
std::string readable_count(uint64_t count);  // "135 M"

/// Writes to a neighbour first, then renames: a stop halfway leaves what was there.
Result<void> write_file(const std::string& path, std::string_view content);

/// One line on a terminal's stderr that is rewritten, and removed at the end. Silent elsewhere.
class ProgressLine {
 public:
  explicit ProgressLine(const Context& context) : enabled_(!context.quiet && stderr_is_terminal()) {}
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ProgressCallback callback();
  void clear();

 private:
  void show(std::string_view stage, uint64_t done, uint64_t total);
  bool enabled_;
  bool shown_ = false;
  int64_t last_ms_ = 0;
  std::mutex mutex_;
};

}  // namespace orrery::cli
