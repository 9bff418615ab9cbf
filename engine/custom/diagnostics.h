// What a compiler says of a source, line by line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace orrery::custom {

enum class Severity { note, warning, error };
std::string_view name_of(Severity severity);  // "warning"

struct Diagnostic {
  std::string file;  // as the compiler was given it; empty: of no file
  int line = 0;      // from 1; 0: of no line
  int column = 0;    // from 1; 0: not said
  Severity severity = Severity::error;
  std::string text;

  std::string to_string() const;  // "add_one.cpp:4:12: error: ..."
  friend bool operator==(const Diagnostic&, const Diagnostic&) = default;
};

/// Of GCC, Clang, NVRTC and the linker, in their order. Lines of other forms (excerpts of the source, carets)
/// are left out.
std::vector<Diagnostic> parse_diagnostics(std::string_view text);

}  // namespace orrery::custom
