#include "kernels/cuda/launch.h"

#include <algorithm>

#include "kernels/cuda/tile_config.h"

namespace orrery::kernels::cuda {
namespace {

/// Errors after which every call in the context fails.
bool is_sticky(cudaError_t error) {
  switch (error) {
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchFailure:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorContained:
    case cudaErrorTensorMemoryLeak:
    case cudaErrorContextIsDestroyed:
    case cudaErrorDeviceUninitialized:
    case cudaErrorExternalDevice:
    case cudaErrorMpsClientTerminated:
    case cudaErrorUnknown:
      return true;
    default:
      return false;
  }
}

}  // namespace

void check(cudaError_t result, const char* what) {
  if (result == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());  // what is told here is not told again by the next call
  const auto kind = result == cudaErrorMemoryAllocation ? DeviceError::Kind::out_of_memory
                    : is_sticky(result)                 ? DeviceError::Kind::lost
                                                        : DeviceError::Kind::failed;
  int device = 0;
  static_cast<void>(cudaGetDevice(&device));
  throw DeviceError(kind,
                    std::string("CUDA, ") + what + ": " + cudaGetErrorString(result) + " (" +
                        cudaGetErrorName(result) + ")",
                    cuda_id(device));
}

dim3 pointwise_grid(int64_t items, int64_t items_of_block) {
  const CardMachine& card = current_card();
  const int64_t most = card.multiprocessors * config_of(card).pointwise_blocks;
  return dim3(static_cast<unsigned>(std::min((items + items_of_block - 1) / items_of_block, most)));
}

void require_aligned(bool aligned) {
  if (aligned) return;
  throw DeviceError(
      DeviceError::Kind::failed,
      "A kernel that reads 16 bytes at a time was chosen for operands that lie at other addresses: "
      "the problem has to say so (aligned = false)");
}

}  // namespace orrery::kernels::cuda
