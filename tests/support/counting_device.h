// A device that hands all on to another, and counts what steps give to the stream and what is captured of
// them.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <utility>

#include "kernels/device.h"

namespace orrery::kernels {

class CountingDevice final : public Device {
 public:
  explicit CountingDevice(std::shared_ptr<Device> real) : real_(std::move(real)) {}

  std::atomic<int> captures{0}, launches{0}, copies{0}, marks{0}, waits{0};
  /// Called by each thread that begins to capture.
  std::function<void()> on_capture;

  const DeviceFacts& facts() const override { return real_->facts(); }
  DeviceVitals vitals() override { return real_->vitals(); }
  void* allocate(size_t bytes) override { return real_->allocate(bytes); }
  void release(void* memory) noexcept override { real_->release(memory); }
  void* allocate_host(size_t bytes) override { return real_->allocate_host(bytes); }
  void release_host(void* memory) noexcept override { real_->release_host(memory); }
  void* reserve(size_t bytes) override { return real_->reserve(bytes); }
  size_t granularity() const override { return real_->granularity(); }
  void commit(void* range, size_t begin, size_t end) override { real_->commit(range, begin, end); }
  void unreserve(void* range) noexcept override { real_->unreserve(range); }
  void upload(void* dst, const void* src, size_t bytes) override { real_->upload(dst, src, bytes); }
  void download(void* dst, const void* src, size_t bytes) override { real_->download(dst, src, bytes); }
  void copy(void* dst, const void* src, size_t bytes) override {
    ++copies;
    real_->copy(dst, src, bytes);
  }
  bool reaches(const Device& other) override { return real_->reaches(other); }
  void copy_from(const Device& other, void* dst, const void* src, size_t bytes) override {
    ++copies;
    real_->copy_from(other, dst, src, bytes);
  }
  void* stream() const override { return real_->stream(); }
  void wait() override {
    ++waits;
    real_->wait();
  }
  std::unique_ptr<DeviceMark> make_mark() override { return real_->make_mark(); }
  void record(DeviceMark& mark) override {
    ++marks;
    real_->record(mark);
  }
  void follow(const DeviceMark& mark) override { real_->follow(mark); }
  void wait_for(const DeviceMark& mark) override { real_->wait_for(mark); }
  double microseconds(const DeviceMark& from, const DeviceMark& to) override {
    return real_->microseconds(from, to);
  }
  void begin_capture() override {
    ++captures;
    if (on_capture) on_capture();
    real_->begin_capture();
  }
  std::unique_ptr<DeviceGraph> end_capture() override { return real_->end_capture(); }
  void launch(DeviceGraph& graph) override {
    ++launches;
    real_->launch(graph);
  }
  void renew() override { real_->renew(); }
  uint64_t epoch() const override { return real_->epoch(); }

 private:
  std::shared_ptr<Device> real_;
};

}  // namespace orrery::kernels
