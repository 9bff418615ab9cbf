#include "engine/custom/diagnostics.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

namespace orrery::custom {
namespace {

/// A number at the front of the text, taken off it.
std::optional<int> take_number(std::string_view& text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return number;
}

bool take(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

/// "error: text", "fatal error: text", "error #20-D: text" of NVRTC.
bool take_severity(std::string_view& text, Severity& severity) {
  constexpr std::pair<std::string_view, Severity> kWords[] = {
      {"fatal error", Severity::error}, {"catastrophic error", Severity::error},
      {"error", Severity::error},       {"warning", Severity::warning},
      {"note", Severity::note},         {"remark", Severity::note}};
  for (const auto& [word, meant] : kWords) {
    std::string_view rest = text;
    if (!take(rest, word)) continue;
    if (take(rest, " #")) rest.remove_prefix(std::min(rest.find(':'), rest.size()));
    if (!take(rest, ":")) continue;
    while (take(rest, " ")) {
    }
    severity = meant;
    text = rest;
    return true;
  }
  return false;
}

/// FILE:LINE: or FILE:LINE:COLUMN: (GCC, Clang), FILE(LINE): (NVRTC), then the severity.
std::optional<Diagnostic> parse_line(std::string_view line) {
  for (size_t at = line.find_first_of(":("); at != std::string_view::npos;
       at = line.find_first_of(":(", at + 1)) {
    Diagnostic found;
    found.file = std::string(line.substr(0, at));
    std::string_view rest = line.substr(at + 1);
    const auto number = take_number(rest);
    if (!number || found.file.empty()) continue;
    found.line = *number;
    if (line[at] == '(') {
      if (!take(rest, ")")) continue;
    } else if (std::string_view more = rest; take(more, ":")) {
      if (const auto column = take_number(more)) {
        found.column = *column;
        rest = more;
      }
    }
    if (!take(rest, ":")) continue;
    while (take(rest, " ")) {
    }
    if (!take_severity(rest, found.severity)) continue;
    found.text = std::string(rest);
    return found;
  }
  return std::nullopt;
}

/// What has no line: of the linker, of the compiler itself.
std::optional<Diagnostic> parse_without_line(std::string_view line) {
  if (const size_t at = line.find("undefined reference to"); at != std::string_view::npos)
    return Diagnostic{"", 0, 0, Severity::error, std::string(line.substr(at))};
  for (const std::string_view who :
       {"cc1plus: ", "cc1: ", "g++: ", "c++: ", "gcc: ", "clang: ", "ld: ", "nvrtc: ", "/usr/bin/ld: "}) {
    std::string_view rest = line;
    Diagnostic found;
    if (take(rest, who) && take_severity(rest, found.severity)) {
      found.text = std::string(rest);
      return found;
    }
  }
  return std::nullopt;
}

}  // namespace

std::string_view name_of(Severity severity) {
  return severity == Severity::error ? "error" : severity == Severity::warning ? "warning" : "note";
}

std::string Diagnostic::to_string() const {
  std::string place = file;
  if (line > 0) place += fmt::format(":{}", line);
  if (column > 0) place += fmt::format(":{}", column);
  return fmt::format("{}{}{}: {}", place, place.empty() ? "" : ": ", name_of(severity), text);
}

std::vector<Diagnostic> parse_diagnostics(std::string_view text) {
  std::vector<Diagnostic> found;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    auto diagnostic = parse_line(line);
    if (!diagnostic) diagnostic = parse_without_line(line);
    if (diagnostic) found.push_back(*std::move(diagnostic));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return found;
}

}  // namespace orrery::custom
