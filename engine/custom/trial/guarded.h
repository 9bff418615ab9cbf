// A tensor between two pages that may not be touched, so that an access outside it is a fault that says whose
// it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "engine/custom/signature.h"

namespace orrery::custom::trial {

/// Where a tensor lies between its two guard pages: its first byte right after the first one, or its last
/// byte right before the second.
enum class Flush { begin, end };

class GuardedTensor {
 public:
  /// A fault is reported by `label`: "src, f32[3, 4]".
  GuardedTensor(size_t bytes, Flush flush, std::string label);
  ~GuardedTensor();
  GuardedTensor(const GuardedTensor&) = delete;
  GuardedTensor& operator=(const GuardedTensor&) = delete;

  std::span<std::byte> data() const { return {data_, bytes_}; }
  /// Writing faults from now on.
  void freeze() const;

  size_t bytes() const { return bytes_; }
  const std::string& label() const { return label_; }
  /// Bytes from its beginning; negative before it.
  int64_t off(uintptr_t address) const {
    return static_cast<int64_t>(address) - static_cast<int64_t>(reinterpret_cast<uintptr_t>(data_));
  }
  /// The one in whose pages or guards the address lies; null: none. For signal handlers: allocates nothing.
  static const GuardedTensor* find(uintptr_t address);

 private:
  size_t bytes_;
  std::string label_;
  std::byte* pages_ = nullptr;  // a guard, the pages of the tensor, a guard
  size_t inner_ = 0;
  std::byte* data_ = nullptr;
  size_t place_ = 0;  // among all
};

}  // namespace orrery::custom::trial
