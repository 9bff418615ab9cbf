#include "engine/io/new_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <system_error>
#include <utility>

namespace orrery::io {
namespace {

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

Error cannot_write(const std::filesystem::path& path, int error) {
  const bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
  return {ErrorCode::io,
          full ? "The file does not fit on the disk, or is larger than allowed"
               : "The file cannot be written: " + std::generic_category().message(error),
          path.string(), full ? "make room or choose another disk" : "check the folder and its permissions"};
}

}  // namespace

Result<NewFile> NewFile::create(const std::filesystem::path& path, uint64_t bytes) {
  std::error_code unknown;
  const std::filesystem::space_info space = std::filesystem::space(folder_of(path), unknown);
  if (!unknown && space.available < bytes)
    return Error{ErrorCode::io,
                 fmt::format("{} bytes are needed, and the disk has {} free", bytes, space.available),
                 path.string(), "make room or choose another disk"};
  // Two threads may be at one file, as two programs may.
  static std::atomic<unsigned> files = 0;
  auto partial =
      folder_of(path) / fmt::format(".{}.{}.{}.partial", path.filename().string(), ::getpid(), ++files);
  const int descriptor = ::open(partial.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (descriptor < 0) return cannot_write(path, errno);
  return NewFile(path, std::move(partial), descriptor);
}

NewFile::NewFile(NewFile&& other) noexcept
    : path_(std::move(other.path_)),
      partial_(std::move(other.partial_)),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

NewFile::~NewFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(partial_.c_str());
}

Error NewFile::failed(int error) const { return cannot_write(path_, error); }

Result<void> NewFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return failed(written < 0 ? errno : ENOSPC);
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return {};
}

Result<void> NewFile::commit() {
  if (::fsync(descriptor_) != 0) return failed(errno);
  if (::rename(partial_.c_str(), path_.c_str()) != 0) return failed(errno);
  ::close(std::exchange(descriptor_, -1));
  // The new name is on disk once its folder is; a file system that cannot do this has its own order.
  const int folder = ::open(folder_of(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return {};
  ::fsync(folder);
  ::close(folder);
  return {};
}

}  // namespace orrery::io
