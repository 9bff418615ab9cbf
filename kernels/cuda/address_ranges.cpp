#include "kernels/cuda/address_ranges.h"

#include "kernels/cuda/driver.h"
#include "kernels/cuda/launch.h"

namespace orrery::kernels::cuda {
namespace {

CUdeviceptr address_of(void* range) { return reinterpret_cast<CUdeviceptr>(range); }

}  // namespace

AddressRanges::AddressRanges(int device) {
  load();
  kind_.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  kind_.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device};
  check(call_.granularity(&granularity_, &kind_, CU_MEM_ALLOC_GRANULARITY_MINIMUM), "asking for page sizes");
}

AddressRanges::~AddressRanges() {
  for (const auto& [base, range] : ranges_) drop(base, range);
}

void AddressRanges::load() {
  find_in_driver("cuMemGetAllocationGranularity", call_.granularity);
  find_in_driver("cuMemAddressReserve", call_.reserve);
  find_in_driver("cuMemAddressFree", call_.free);
  find_in_driver("cuMemCreate", call_.create);
  find_in_driver("cuMemRelease", call_.release);
  find_in_driver("cuMemMap", call_.map);
  find_in_driver("cuMemUnmap", call_.unmap);
  find_in_driver("cuMemSetAccess", call_.set_access);
}

/// The runtime's errors have the driver's numbers.
void AddressRanges::check(CUresult result, const char* what) const {
  if (result == CUDA_SUCCESS) return;
  cuda::check(static_cast<cudaError_t>(result), what);
}

void* AddressRanges::reserve(size_t bytes) {
  bytes = (bytes + granularity_ - 1) / granularity_ * granularity_;
  CUdeviceptr base = 0;
  check(call_.reserve(&base, bytes, 0, 0, 0), "reserving addresses");
  const std::lock_guard lock(mutex_);
  ranges_[base] = {bytes, {}};
  return reinterpret_cast<void*>(base);
}

bool AddressRanges::commit(void* range, size_t begin, size_t end) {
  const std::lock_guard lock(mutex_);
  const auto found = ranges_.find(address_of(range));
  if (found == ranges_.end() || begin % granularity_ != 0 || end % granularity_ != 0 ||
      end > found->second.bytes)
    throw DeviceError(DeviceError::Kind::failed, "memory was asked for outside of a reserved range");
  if (end <= begin) return true;
  const size_t bytes = end - begin;
  const CUdeviceptr address = found->first + begin;
  CUmemGenericAllocationHandle memory{};
  const CUresult made = call_.create(&memory, bytes, &kind_, 0);
  if (made == CUDA_ERROR_OUT_OF_MEMORY) return false;
  check(made, "allocating memory");
  CUresult result = call_.map(address, bytes, 0, memory, 0);
  call_.release(memory);  // the mapping keeps it
  check(result, "mapping memory");
  const CUmemAccessDesc access{.location = kind_.location, .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  result = call_.set_access(address, bytes, &access, 1);
  if (result != CUDA_SUCCESS) call_.unmap(address, bytes);
  if (result == CUDA_ERROR_OUT_OF_MEMORY) return false;
  check(result, "opening memory for kernels");
  found->second.pieces.push_back({begin, bytes});
  return true;
}

void AddressRanges::unreserve(void* range) noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = ranges_.find(address_of(range));
  if (found == ranges_.end()) return;
  drop(found->first, found->second);
  ranges_.erase(found);
}

void AddressRanges::drop(CUdeviceptr base, const Range& range) noexcept {
  for (const Piece& piece : range.pieces) call_.unmap(base + piece.begin, piece.bytes);
  call_.free(base, range.bytes);
}

}  // namespace orrery::kernels::cuda
