#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "engine/io/model_file.h"

namespace orrery::io {
namespace {

std::string reason(int error) { return std::generic_category().message(error); }

struct Descriptor {
  int value;
  explicit Descriptor(int descriptor) : value(descriptor) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (value >= 0) ::close(value);
  }
};

}  // namespace

Result<std::shared_ptr<const MappedFile>> MappedFile::open(const std::filesystem::path& path) {
  // Non-blocking, so that a named pipe is refused below instead of waited for.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.value < 0)
    return Error{errno == ENOENT ? ErrorCode::not_found : ErrorCode::io,
                 fmt::format("The file cannot be opened: {}", reason(errno)), path.string(),
                 "check the path and the permissions"};
  struct stat status {};
  if (::fstat(file.value, &status) != 0 || !S_ISREG(status.st_mode))
    return Error{ErrorCode::invalid_argument, "Not a regular file", path.string(),
                 "choose a model file or its folder"};
  if (status.st_size == 0)
    return Error{ErrorCode::corrupt_file, "The file is empty", path.string(), "get it again"};
  const auto size = static_cast<size_t>(status.st_size);
  void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.value, 0);
  if (data == MAP_FAILED)
    return Error{errno == ENOMEM ? ErrorCode::out_of_memory : ErrorCode::io,
                 fmt::format("{} bytes cannot be mapped: {}", size, reason(errno)), path.string(),
                 "close other programs or choose a smaller file"};
  std::shared_ptr<MappedFile> mapped(new MappedFile);
  mapped->path_ = path;
  mapped->bytes_ = {static_cast<const std::byte*>(data), size};
  return std::shared_ptr<const MappedFile>(std::move(mapped));
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

void MappedFile::drop(std::span<const std::byte> range) const {
  // Whole pages inside the range only: its neighbours may be in use.
  const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = (reinterpret_cast<uintptr_t>(range.data()) + page - 1) / page * page;
  const auto end = reinterpret_cast<uintptr_t>(range.data() + range.size()) / page * page;
  const auto first = reinterpret_cast<uintptr_t>(bytes_.data());
  if (begin >= end || begin < first || end > first + bytes_.size()) return;
  ::madvise(reinterpret_cast<void*>(begin), end - begin,
            MADV_DONTNEED);  // advice: nothing is lost when refused
}

Result<void> MappedFile::check() const {
  struct stat status {};
  if (::stat(path_.c_str(), &status) == 0 && static_cast<uint64_t>(status.st_size) < bytes_.size())
    return Error{
        ErrorCode::io,
        fmt::format("The file shrank from {} to {} bytes while it was open", bytes_.size(), status.st_size),
        path_.string(), "open it again when it is whole"};
  return {};
}

}  // namespace orrery::io
