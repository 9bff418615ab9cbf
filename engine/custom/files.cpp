#include "engine/custom/files.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <span>
#include <sstream>

#include "engine/io/new_file.h"

namespace orrery::custom {

Result<std::string> read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  if (!file || std::filesystem::is_directory(path) || !(bytes << file.rdbuf()))
    return Error{ErrorCode::io, "The file cannot be read or is empty", path.string(),
                 "check the file and its permissions"};
  return std::move(bytes).str();
}

Result<void> write_file(const std::filesystem::path& path, std::string_view bytes) {
  std::error_code error;
  std::filesystem::create_directories(path.parent_path(), error);
  if (error)
    return Error{ErrorCode::io, "The folder cannot be made: " + error.message(), path.parent_path().string(),
                 "check the permissions there"};
  ORRERY_ASSIGN(io::NewFile file, io::NewFile::create(path, bytes.size()));
  ORRERY_TRY(file.write(std::as_bytes(std::span(bytes))));
  return file.commit();
}

}  // namespace orrery::custom
