#include <fmt/format.h>

#include <cstdlib>

#include "engine/weights/weight_store.h"

namespace orrery::weights {

Result<Buffer> Buffer::allocate(size_t bytes) {
  constexpr size_t kAlignment = 64;
  constexpr size_t kMost = SIZE_MAX / 2;
  const size_t rounded = bytes > kMost ? kMost : (bytes + kAlignment - 1) / kAlignment * kAlignment;
  Buffer buffer;
  if (bytes <= kMost)
    buffer.data_.reset(
        static_cast<std::byte*>(std::aligned_alloc(kAlignment, rounded == 0 ? kAlignment : rounded)));
  if (!buffer.data_)
    return Error{ErrorCode::out_of_memory,
                 fmt::format("{} MB of memory are not to be had", bytes / 1'000'000), "",
                 "close other programs, or choose a smaller model or context"};
  buffer.size_ = bytes;
  return buffer;
}

void Buffer::Free::operator()(std::byte* data) const { std::free(data); }

}  // namespace orrery::weights
