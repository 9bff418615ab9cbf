#include "engine/custom/sources.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/base/sha256.h"
#include "engine/custom/body.h"
#include "engine/custom/files.h"
#include "engine/custom/sdk_text.h"
#include "engine/custom/toolchain.h"

namespace orrery::custom {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kLargestSource = uint64_t{64} << 20;

}  // namespace

Result<SourceFile> read_source(const fs::path& path) {
  std::error_code error;
  if (const uint64_t size = fs::file_size(path, error); !error && size > kLargestSource)
    return Error{ErrorCode::unsupported, "The file is larger than 64 MB", path.string(), "choose another"};
  ORRERY_ASSIGN(std::string bytes, read_file(path));
  return SourceFile{path.filename().string(), std::move(bytes)};
}

Result<Sources> Sources::of(std::vector<SourceFile> files) {
  const auto refuse = [](std::string what, const std::string& where) {
    return Error{ErrorCode::invalid_argument, std::move(what), where,
                 "give a file of C or C++, one of CUDA, or both; or a library"};
  };
  Sources sources;
  bool host = false;
  for (SourceFile& file : files) {
    const bool cuda = is_cuda(file.name), library = file.name.ends_with(".so");
    if (file.name.find('"') != std::string::npos || file.name.starts_with('-'))
      return refuse("This is no name for a source", file.name);
    if (!cuda && !library && language_of(file.name).empty())
      return refuse("This is neither C, C++, CUDA nor a library", file.name);
    if (cuda ? sources.cuda.has_value() : host) return refuse("A second file of its kind", file.name);
    if (cuda) {
      sources.cuda = std::move(file);
      continue;
    }
    sources.is_library = library;
    sources.host = std::move(file);
    host = true;
  }
  if (sources.is_library && sources.cuda)
    return refuse("A library launches its own kernels", sources.cuda->name);
  if (!host && !sources.cuda) return refuse("There is no file", "");
  if (!host) sources.host = *sources.cuda;
  return sources;
}

std::string Sources::content() const {
  const bool both = cuda && cuda->name != host.name;
  return sha256(fmt::format("{}\n{}\n{}", language_of(host.name), sha256(host.bytes),
                            both ? sha256(cuda->bytes) : ""))
      .substr(0, 16);
}

Result<std::vector<SourceFile>> new_sources(const std::string& name, bool cuda) {
  if (!is_op_name(name))
    return Error{ErrorCode::invalid_argument, fmt::format("\"{}\" is no name of an op", name.substr(0, 80)),
                 "", "use small letters, digits and _, 48 at most"};
  const auto named = [&](std::string_view text) {
    constexpr std::string_view kExample = "add_one";
    std::string made(text);
    for (size_t at = 0; (at = made.find(kExample, at)) != std::string::npos; at += name.size())
      made.replace(at, kExample.size(), name);
    return made;
  };
  std::vector<SourceFile> files = {{name + ".cpp", named(kExampleCpp)}};
  if (cuda) files.push_back({name + ".cu", named(kExampleCuda)});
  return files;
}

}  // namespace orrery::custom
