// Memory for the operands of a row under test: exactly as large as asked for, beside a page without rights.
// The objects of one ISA carry no sanitizer, so that one byte read or written too far shows here only.
// Operands of a device's rows lie in its memory, between margins that show writes.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "tests/kernels/device_under_test.h"

namespace orrery::kernels::testing {

/// On which side of the bytes the page lies that faults at once; or that they lie on the device under test.
enum class Guard : uint8_t { after, before, device };
inline constexpr Guard kGuards[] = {Guard::after, Guard::before};

/// The places where the rows under test find their operands, each to be tried.
inline std::span<const Guard> guards() {
  static constexpr Guard kOnDevice[] = {Guard::device};
  if (device_under_test()) return kOnDevice;
  return kGuards;
}

/// On the other side a pattern fills what is left of the page: writes into it show when the memory goes.
class GuardedBytes {
 public:
  /// An end that is no multiple of `alignment` is followed by pattern up to the next one. `values`: what they
  /// hold, else it is pattern.
  GuardedBytes(size_t bytes, Guard guard, size_t alignment = 1, const void* values = nullptr)
      : bytes_(bytes) {
    if (guard == Guard::device) {
      device_.emplace(bytes, values);
      data_ = device_->data();
      return;
    }
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    inner_ = (bytes + page - 1) / page * page;
    mapped_ = inner_ + 2 * page;
    base_ = mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base_ == MAP_FAILED) throw std::bad_alloc();
    begin_ = static_cast<std::byte*>(base_) + page;
    if (inner_ > 0 && mprotect(begin_, inner_, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
    std::fill_n(begin_, inner_, kPattern);
    const size_t room = (bytes + alignment - 1) / alignment * alignment;
    data_ = guard == Guard::before ? begin_ : begin_ + inner_ - room;
    if (values && bytes > 0) std::memcpy(data_, values, bytes);
  }
  ~GuardedBytes() {
    try {
      EXPECT_TRUE(intact()) << "a byte outside of " << bytes_ << " was written";
    } catch (const DeviceError& error) {
      ADD_FAILURE() << error.what();
    }
    if (base_) munmap(base_, mapped_);
  }
  GuardedBytes(const GuardedBytes&) = delete;
  GuardedBytes& operator=(const GuardedBytes&) = delete;

  std::byte* data() const { return data_; }
  void read(void* to) const {
    if (bytes_ == 0) return;
    if (device_) return device_->read(to);
    std::memcpy(to, data_, bytes_);
  }
  bool intact() const {
    if (device_) return device_->intact();
    const auto clean = [](std::byte b) { return b == kPattern; };
    return std::all_of(begin_, data_, clean) && std::all_of(data_ + bytes_, begin_ + inner_, clean);
  }

 private:
  static constexpr std::byte kPattern{0xA5};
  size_t bytes_;
  size_t inner_ = 0, mapped_ = 0;
  void* base_ = nullptr;
  std::byte* begin_ = nullptr;
  std::byte* data_ = nullptr;
  std::optional<DeviceBytes> device_;
};

/// An operand: so many elements and not a byte more. On a device, data() is for kernels only.
template <class T>
class Guarded {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  explicit Guarded(const std::vector<T>& values, Guard guard)
      : count_(values.size()), bytes_(count_ * sizeof(T), guard, 1, values.data()) {}
  Guarded(size_t count, T value, Guard guard) : Guarded(std::vector<T>(count, value), guard) {}

  T* data() { return reinterpret_cast<T*>(bytes_.data()); }
  const T* data() const { return reinterpret_cast<const T*>(bytes_.data()); }
  std::vector<T> values() const {
    std::vector<T> copy(count_);
    bytes_.read(copy.data());
    return copy;
  }

 private:
  size_t count_;
  GuardedBytes bytes_;
};

/// The scratch of a call, 64-byte aligned as rows may expect.
class Workspace {
 public:
  explicit Workspace(size_t bytes, Guard guard = Guard::after) : bytes_(bytes, guard, 64) {}
  std::byte* data() const { return bytes_.data(); }

 private:
  GuardedBytes bytes_;
};

}  // namespace orrery::kernels::testing
