// A kernel that breaks its context, for the tests of what follows from that.
#include "kernels/cuda/launch.h"

namespace orrery::kernels::cuda {
namespace {

__global__ void store(int* address) {
  pdl_wait();
  *address = 1;
}

}  // namespace
}  // namespace orrery::kernels::cuda

/// For tests: the stream's next work is a store to address 8.
extern "C" __attribute__((visibility("default"))) void orrery_test_fault(orrery::kernels::Device& device) {
  using namespace orrery::kernels;
  cuda::launch_kernel(Launch{.stream = device.stream()}, cuda::store, 1, 1, 0, reinterpret_cast<int*>(8));
}
