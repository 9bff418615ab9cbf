// A kernel that breaks its context, for the tests of what follows from that; and, since it is a kernel as
// any other, by it is seen whether this module was built for the card at hand.
#include "kernels/cuda/backend.h"
#include "kernels/cuda/launch.h"

namespace orrery::kernels::cuda {
namespace {

__global__ void store(int* address) {
  pdl_wait();
  *address = 1;
}

}  // namespace

std::string without_kernels_for(const std::string& architecture) {
  cudaFuncAttributes attributes{};
  if (cudaFuncGetAttributes(&attributes, store) == cudaSuccess) return {};
  static_cast<void>(cudaGetLastError());
  return "the CUDA module of this program has no kernels for " + architecture +
         ": build it with -DORRERY_CUDA_ARCHITECTURES=" + architecture.substr(architecture.find('_') + 1);
}

}  // namespace orrery::kernels::cuda

/// For tests: the stream's next work is a store to address 8.
extern "C" __attribute__((visibility("default"))) void orrery_test_fault(orrery::kernels::Device& device) {
  using namespace orrery::kernels;
  cuda::launch_kernel(Launch{.stream = device.stream()}, cuda::store, 1, 1, 0, reinterpret_cast<int*>(8));
}
