// By a kernel that is as any other it is seen whether this module was built for the card at hand.
#include "kernels/cuda/card.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <string_view>

#include "kernels/cuda/launch.h"

namespace orrery::kernels::cuda {
namespace {

__global__ void probe() { pdl_wait(); }

// 10 times the capability of each, as nvcc has it for all files of the module.
constexpr int kCompiledFor[] = {__CUDA_ARCH_LIST__};
// The capabilities whose machine code is there, not only PTX: _80_86_
#define ORRERY_TEXT_OF(x) #x
#define ORRERY_TEXT(x) ORRERY_TEXT_OF(x)
constexpr std::string_view kNativeFor = ORRERY_TEXT(ORRERY_CUDA_NATIVE);

/// Machine code runs on later cards of its generation too.
bool has_native(int capability) {
  for (int native = capability / 10 * 10; native <= capability; ++native)
    if (kNativeFor.find(std::string("_").append(std::to_string(native)).append("_")) !=
        std::string_view::npos)
      return true;
  return false;
}

int attribute(cudaDeviceAttr which, int index) {
  int value = 0;
  if (cudaDeviceGetAttribute(&value, which, index) == cudaSuccess) return value;
  static_cast<void>(cudaGetLastError());
  return 0;
}

std::string capability_text(int capability) {
  return std::to_string(capability / 10) + "." + std::to_string(capability % 10);
}

}  // namespace

Machine machine_of_card(int index) {
  const int major = attribute(cudaDevAttrComputeCapabilityMajor, index);
  const int minor = attribute(cudaDevAttrComputeCapabilityMinor, index);
  Machine machine;
  CardMachine& card = machine.card;
  card.capability = 10 * major + minor;
  for (const int compiled : kCompiledFor)
    if (compiled / 10 <= card.capability) card.code = std::max(card.code, compiled / 10);
  card.translated = !has_native(card.capability);
  card.multiprocessors = attribute(cudaDevAttrMultiProcessorCount, index);
  card.shared_per_block = static_cast<size_t>(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, index));
  card.shared_per_multiprocessor =
      static_cast<size_t>(attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor, index));
  card.l2_bytes = static_cast<uint64_t>(attribute(cudaDevAttrL2CacheSize, index));
  return machine;
}

const CardMachine& current_card() {
  constexpr int kMost = 64;
  static std::array<CardMachine, kMost> cards;
  static std::array<std::once_flag, kMost> asked;
  int index = 0;
  check(cudaGetDevice(&index), "asking for the current device");
  const auto i = static_cast<size_t>(index) % kMost;
  std::call_once(asked[i], [&] { cards[i] = machine_of_card(index).card; });
  return cards[i];
}

std::string without_kernels_for(const std::string& architecture) {
  cudaFuncAttributes attributes{};
  if (cudaFuncGetAttributes(&attributes, probe) == cudaSuccess) return {};
  static_cast<void>(cudaGetLastError());
  return "the CUDA module of this program has no kernels for " + architecture +
         ": build it with -DORRERY_CUDA_ARCHITECTURES=" + architecture.substr(architecture.find('_') + 1);
}

std::string without_clusters(const CardMachine& card) {
  if (card.capability < 90)
    return "needs clusters of blocks, which cards of compute capability 9.0 have; this one has " +
           capability_text(card.capability);
  if (card.code < 90)
    return "needs kernels built for compute capability 9.0; the module has those of " +
           capability_text(card.code) + " for this card";
  return {};
}

std::string without_shared(size_t bytes, const CardMachine& card) {
  if (bytes <= card.shared_per_block) return {};
  return "needs " + std::to_string((bytes + 1023) / 1024) + " KB of shared memory; a block of the card has " +
         std::to_string(card.shared_per_block / 1024);
}

}  // namespace orrery::kernels::cuda
