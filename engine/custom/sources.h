// The files that an op of one's own is made of.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/result.h"

namespace orrery::custom {

/// A file as a person has it: C or C++ (.c, .cpp, .cc, .cxx), CUDA (.cu), or a library (.so).
struct SourceFile {
  std::string name;  // without folders
  std::string bytes;
};
/// Refused where it cannot be read.
Result<SourceFile> read_source(const std::filesystem::path& path);

/// What the files are as one op: one of C or C++, one of CUDA, or both; or one library. Refused otherwise.
struct Sources {
  SourceFile host;  // of C, C++ or, where there is no other, of CUDA; or the library
  std::optional<SourceFile> cuda;
  bool is_library = false;

  static Result<Sources> of(std::vector<SourceFile> files);
  /// A hash of the files alone, the same on every machine: 16 digits.
  std::string content() const;
};

/// The files that a new op of this name begins as: the example add_one under that name. Refused: no name of
/// an op.
Result<std::vector<SourceFile>> new_sources(const std::string& name, bool cuda);

}  // namespace orrery::custom
