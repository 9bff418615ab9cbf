// A tensor between two pages that may not be touched, so that an access outside it is a fault that says whose
// it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "engine/custom/signature.h"

namespace orrery::custom::trial {

/// Where a tensor lies in its pages: with its first byte behind the page before it, or its last one in front
/// of the page behind it (as far as its elements' alignment lets it, which is all the way).
enum class Flush { begin, end };

class GuardedTensor {
 public:
  /// `label` is told of a fault: "src, f32[3, 4]".
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
