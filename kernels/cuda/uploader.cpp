#include "kernels/cuda/uploader.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>

#include "kernels/cuda/launch.h"

namespace orrery::kernels::cuda {
namespace {

constexpr size_t kPiece = size_t{4} << 20;
constexpr size_t kMostThreads = 8;

}  // namespace

Uploader::Uploader(int device)
    : device_(device),
      threads_(std::clamp<size_t>(std::thread::hardware_concurrency() / 2, 1, kMostThreads)) {
  check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a stream for uploads");
}

Uploader::~Uploader() {
  for (const Slot& slot : slots_)
    if (slot.fetched) cudaEventDestroy(slot.fetched);
  cudaFreeHost(staging_);
  cudaStreamDestroy(stream_);
}

void Uploader::make_slots() {
  if (!staging_) {
    void* memory = nullptr;
    check(cudaHostAlloc(&memory, 2 * threads_ * kPiece, cudaHostAllocPortable),
          "allocating page-locked memory for uploads");
    staging_ = static_cast<std::byte*>(memory);
  }
  while (slots_.size() < 2 * threads_) {
    Slot slot{.memory = staging_ + slots_.size() * kPiece};
    check(cudaEventCreateWithFlags(&slot.fetched, cudaEventDisableTiming), "making an event for uploads");
    slots_.push_back(slot);
  }
}

/// An event that was never recorded counts as reached.
cudaError_t Uploader::send(Slot& slot, std::byte* dst, const std::byte* src, size_t bytes) const {
  cudaError_t error = cudaEventSynchronize(slot.fetched);
  if (error != cudaSuccess) return error;
  std::memcpy(slot.memory, src, bytes);
  error = cudaMemcpyAsync(dst, slot.memory, bytes, cudaMemcpyHostToDevice, stream_);
  return error == cudaSuccess ? cudaEventRecord(slot.fetched, stream_) : error;
}

void Uploader::upload(void* dst, const void* src, size_t bytes) {
  if (bytes == 0) return;
  const std::lock_guard lock(mutex_);
  make_slots();
  std::atomic<size_t> next = 0;
  std::atomic<cudaError_t> failure = cudaSuccess;
  const auto work = [&](size_t thread) {
    cudaError_t error = cudaSetDevice(device_);
    for (size_t turn = 0; error == cudaSuccess && failure == cudaSuccess; ++turn) {
      const size_t begin = next.fetch_add(kPiece);
      if (begin >= bytes) break;
      error = send(slots_[2 * thread + turn % 2], static_cast<std::byte*>(dst) + begin,
                   static_cast<const std::byte*>(src) + begin, std::min(kPiece, bytes - begin));
    }
    if (error != cudaSuccess) failure = error;
  };
  {
    std::vector<std::jthread> others;
    const size_t wanted = std::min(threads_, (bytes + kPiece - 1) / kPiece);
    try {
      for (size_t i = 1; i < wanted; ++i) others.emplace_back(work, i);
    } catch (const std::system_error&) {
      // No more threads to be had: those that began do it.
    }
    work(0);
  }
  const cudaError_t waited = cudaStreamSynchronize(stream_);
  check(failure, "uploading");
  check(waited, "uploading");
}

}  // namespace orrery::kernels::cuda
