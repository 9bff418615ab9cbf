// Copies host memory of any kind to the device on a stream of its own (Device::upload): some threads copy
// pieces into page-locked memory while the device fetches the pieces before. One thread of a machine reads
// mapped files at a few GB/s; the link takes 55.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <mutex>
#include <vector>

namespace orrery::kernels::cuda {

class Uploader {
 public:
  /// Needs the device's context to be current, as all below. Throws DeviceError.
  explicit Uploader(int device);
  ~Uploader();
  Uploader(const Uploader&) = delete;
  Uploader& operator=(const Uploader&) = delete;

  /// Returns when `dst` has the bytes. One call at a time; others wait.
  void upload(void* dst, const void* src, size_t bytes);

 private:
  /// A piece of page-locked memory, and when the device has fetched what lies in it.
  struct Slot {
    std::byte* memory = nullptr;
    cudaEvent_t fetched = nullptr;
  };

  void make_slots();
  cudaError_t send(Slot& slot, std::byte* dst, const std::byte* src, size_t bytes) const;

  int device_;
  size_t threads_;
  std::mutex mutex_;
  cudaStream_t stream_ = nullptr;
  std::byte* staging_ = nullptr;
  std::vector<Slot> slots_;  // two for each thread; made by the first upload
};

}  // namespace orrery::kernels::cuda
