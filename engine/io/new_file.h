// A file that appears whole or not at all: written under a name of its own beside its place, then renamed.
#pragma once

#include <filesystem>
#include <span>

#include "engine/base/result.h"

namespace orrery::io {

class NewFile {
 public:
  /// Refused: a folder that cannot be written to, and a disk with fewer than `bytes` free.
  static Result<NewFile> create(const std::filesystem::path& path, uint64_t bytes);
  NewFile(NewFile&& other) noexcept;
  NewFile& operator=(NewFile&&) = delete;
  ~NewFile();  // without commit() nothing is left

  Result<void> write(std::span<const std::byte> bytes);
  const std::filesystem::path& partial() const { return partial_; }  // where it stands until then
  /// Everything on disk, then under its name. Replaces what had it.
  Result<void> commit();

 private:
  NewFile(std::filesystem::path path, std::filesystem::path partial, int descriptor)
      : path_(std::move(path)), partial_(std::move(partial)), descriptor_(descriptor) {}
  Error failed(int error) const;

  std::filesystem::path path_, partial_;
  int descriptor_ = -1;
};

}  // namespace orrery::io
