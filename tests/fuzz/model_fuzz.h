// What the fuzz targets of model files share: bytes as a file without a disk, and a walk over what opened.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "engine/io/model_file.h"

namespace orrery::fuzz {

/// A file in memory that is written anew for each input.
class MemoryFile {
 public:
  std::filesystem::path write(const uint8_t* data, size_t size) const {
    if (descriptor_ < 0 || ::ftruncate(descriptor_, 0) != 0 ||
        ::pwrite(descriptor_, data, size, 0) != static_cast<ssize_t>(size))
      std::abort();
    return "/proc/self/fd/" + std::to_string(descriptor_);
  }

 private:
  int descriptor_ = ::memfd_create("orrery_fuzz", MFD_CLOEXEC);
};

/// Touches every byte that an opened model offers; a refusal without words is a finding.
inline void walk(const Result<std::shared_ptr<const io::ModelFile>>& opened) {
  if (!opened.ok()) {
    if (opened.error().what.empty() || opened.error().code == ErrorCode::internal) std::abort();
    return;
  }
  uint64_t sum = (*opened)->parameters();
  for (const io::Tensor& tensor : (*opened)->tensors) {
    if ((*opened)->find(tensor.name) != &tensor) std::abort();
    for (const std::byte byte : tensor.data) sum += static_cast<uint64_t>(byte);
  }
  [[maybe_unused]] static volatile uint64_t sink;
  sink = sum;
}

}  // namespace orrery::fuzz
