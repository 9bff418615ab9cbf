// The device whose rows the row tests try instead of the CPU's: ORRERY_TEST_DEVICE=cuda:0 names it. Without
// the variable they try the CPU's; with it, but without the module or a card, every test is skipped with the
// reason. ORRERY_TEST_EXACT=1 gives each operand an allocation of its own without margins, so that a memory
// checker sees reads outside of it too.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <vector>

#include "kernels/device_module.h"

namespace orrery::kernels::testing {

class DeviceUnderTest {
 public:
  static DeviceUnderTest& instance() {
    static auto* const kept = new DeviceUnderTest;  // the driver may end before statics do
    return *kept;
  }

  /// Null where the CPU's rows are tested.
  Device* device() const { return device_.get(); }
  /// Why the device that was named cannot be used.
  const std::string& reason() const { return reason_; }

  /// Memory of tests that ended is used again: many thousands of operands are made.
  std::byte* take(size_t bytes) {
    if (exact_) return static_cast<std::byte*>(device_->allocate(bytes));
    std::vector<std::byte*>& kept = kept_[size_class(bytes)];
    if (kept.empty()) return static_cast<std::byte*>(device_->allocate(size_class(bytes)));
    std::byte* memory = kept.back();
    kept.pop_back();
    return memory;
  }
  void give(std::byte* memory, size_t bytes) {
    if (exact_) return device_->release(memory);
    kept_[size_class(bytes)].push_back(memory);
  }
  /// Bytes on both sides of an operand.
  size_t margin() const { return exact_ ? 0 : 1024; }

  /// Returns when the stream's work is done. A kernel that broke the context fails its test alone.
  void wait() {
    try {
      device_->wait();
    } catch (const DeviceError& error) {
      if (error.kind() == DeviceError::Kind::lost) {
        kept_.clear();
        device_->renew();
      }
      throw;
    }
  }

 private:
  DeviceUnderTest() {
    const char* name = std::getenv("ORRERY_TEST_DEVICE");
    if (!name || !*name) return;
    const std::string wanted = name;
    if (wanted.rfind("cuda:", 0) != 0) {
      reason_ = "ORRERY_TEST_DEVICE is " + wanted + ", not cuda:N";
      return;
    }
    const DeviceModule* module = cuda_module(reason_);
    if (!module || module->count(reason_) == 0) return;
    try {
      device_ = module->open(std::atoi(wanted.c_str() + 5));
    } catch (const DeviceError& error) {
      reason_ = error.what();
    }
  }

  static size_t size_class(size_t bytes) {
    size_t size = 4096;
    while (size < bytes) size *= 2;
    return size;
  }

  const bool exact_ = std::getenv("ORRERY_TEST_EXACT") != nullptr;
  std::unique_ptr<Device> device_;
  std::string reason_;
  std::map<size_t, std::vector<std::byte*>> kept_;
};

inline Device* device_under_test() { return DeviceUnderTest::instance().device(); }

/// Skips all tests of the program where the device that was named is not to be had.
class NeedsDeviceUnderTest : public ::testing::Environment {
 public:
  void SetUp() override {
    const std::string& reason = DeviceUnderTest::instance().reason();
    if (!reason.empty()) GTEST_SKIP() << "no device to test: " << reason;
  }
};
inline ::testing::Environment* const kNeedsDeviceUnderTest =
    ::testing::AddGlobalTestEnvironment(new NeedsDeviceUnderTest);

/// So many bytes of device memory, with a margin on both sides; 256-byte aligned.
class DeviceBytes {
 public:
  /// `values`: what they hold; null: the pattern of the margins, NaN in every float type.
  DeviceBytes(size_t bytes, const void* values)
      : bytes_(bytes),
        margin_(DeviceUnderTest::instance().margin()),
        mapped_(bytes + 2 * margin_),
        epoch_(device_under_test()->epoch()),
        base_(DeviceUnderTest::instance().take(mapped_)) {
    std::vector<std::byte> content(mapped_, kPattern);
    if (values && bytes > 0) std::copy_n(static_cast<const std::byte*>(values), bytes, &content[margin_]);
    device_under_test()->upload(base_, content.data(), mapped_);
  }
  ~DeviceBytes() {
    if (alive()) DeviceUnderTest::instance().give(base_, mapped_);
  }
  DeviceBytes(const DeviceBytes&) = delete;
  DeviceBytes& operator=(const DeviceBytes&) = delete;

  std::byte* data() const { return base_ + margin_; }
  void read(void* to) const { device_under_test()->download(to, data(), bytes_); }
  /// What a lost device held is not looked at.
  bool intact() const {
    if (!alive()) return true;
    std::vector<std::byte> content(mapped_);
    device_under_test()->download(content.data(), base_, mapped_);
    const auto clean = [](std::byte b) { return b == kPattern; };
    const auto data = content.begin() + static_cast<ptrdiff_t>(margin_);
    return std::all_of(content.begin(), data, clean) &&
           std::all_of(data + static_cast<ptrdiff_t>(bytes_), content.end(), clean);
  }

 private:
  static constexpr std::byte kPattern{0xFF};

  bool alive() const { return device_under_test()->epoch() == epoch_; }

  size_t bytes_, margin_, mapped_;
  uint64_t epoch_;
  std::byte* base_;
};

}  // namespace orrery::kernels::testing
