// Ranges of device addresses whose memory comes later (Device::reserve, commit, unreserve), by the driver's
// virtual memory management. Its functions are asked from the runtime, so that libcuda is not linked.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <map>
#include <mutex>
#include <vector>

namespace orrery::kernels::cuda {

class AddressRanges {
 public:
  /// Needs the device's context to be current, as all below. Throws DeviceError.
  explicit AddressRanges(int device);
  ~AddressRanges();
  AddressRanges(const AddressRanges&) = delete;
  AddressRanges& operator=(const AddressRanges&) = delete;

  size_t granularity() const { return granularity_; }
  void* reserve(size_t bytes);
  /// `begin` and `end` are multiples of the granularity, and nothing between them is committed yet. False,
  /// with nothing changed, when the device has no memory left.
  bool commit(void* range, size_t begin, size_t end);
  /// Nothing may be using the range any more. Errors are ignored.
  void unreserve(void* range) noexcept;

 private:
  struct Piece {
    size_t begin, bytes;
  };
  struct Range {
    size_t bytes;
    std::vector<Piece> pieces;
  };
  struct Functions {
    decltype(&cuMemGetAllocationGranularity) granularity = nullptr;
    decltype(&cuMemAddressReserve) reserve = nullptr;
    decltype(&cuMemAddressFree) free = nullptr;
    decltype(&cuMemCreate) create = nullptr;
    decltype(&cuMemRelease) release = nullptr;
    decltype(&cuMemMap) map = nullptr;
    decltype(&cuMemUnmap) unmap = nullptr;
    decltype(&cuMemSetAccess) set_access = nullptr;
  };

  void load();
  void check(CUresult result, const char* what) const;
  void drop(CUdeviceptr base, const Range& range) noexcept;

  Functions call_;
  CUmemAllocationProp kind_{};
  size_t granularity_ = 0;
  std::mutex mutex_;
  std::map<CUdeviceptr, Range> ranges_;
};

}  // namespace orrery::kernels::cuda
