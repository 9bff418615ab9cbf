// Norm over groups of channels (group_norm.h).
// One block a group of one batch index, which lies in one piece: a thread owns elements threadIdx.x + k
// blockDim.x, adds them up in float64, then their squares from the mean, then writes them; from cache after
// the first pass. dst may be src: an element is written by the thread that read it last. Bytes moved: an
// element of src and of dst each.
#include <algorithm>

#include "kernels/cuda/device/block_reduce.cuh"
#include "kernels/cuda/device/element.cuh"
#include "kernels/cuda/device/one_wave.cuh"
#include "kernels/cuda/launch.h"
#include "kernels/group_norm.h"

namespace orrery::kernels::cuda {
namespace {

__global__ void __launch_bounds__(1024) group_kernel(const GroupNorm::Args args) {
  __shared__ double shared[kWarp];
  pdl_wait();
  pdl_trigger_in_one_wave();
  const int64_t each = args.channels / args.groups, count = each * args.inner, first = blockIdx.x * count;
  double sum = 0, squares = 0;
  for (int64_t i = threadIdx.x; i < count; i += blockDim.x)
    sum += static_cast<double>(load_element<float>(args.dtype, args.src, first + i));
  const double mean = block_reduce(sum, 0.0, Plus{}, shared) / static_cast<double>(count);
  for (int64_t i = threadIdx.x; i < count; i += blockDim.x) {
    const double off = static_cast<double>(load_element<float>(args.dtype, args.src, first + i)) - mean;
    squares += off * off;
  }
  squares = block_reduce(squares, 0.0, Plus{}, shared);
  const auto scale =
      static_cast<float>(1.0 / sqrt(squares / static_cast<double>(count) + static_cast<double>(args.eps)));
  const auto center = static_cast<float>(mean);
  const int64_t channel = blockIdx.x % args.groups * each;
  for (int64_t i = threadIdx.x; i < count; i += blockDim.x) {
    const int64_t c = channel + i / args.inner;
    const float weight = args.weight != nullptr ? args.weight[c] : 1.0F;
    const float bias = args.bias != nullptr ? args.bias[c] : 0.0F;
    const float x = load_element<float>(args.dtype, args.src, first + i);
    store_element(args.dtype, (x - center) * (scale * weight) + bias, args.dst, first + i);
  }
}

void run(const GroupNorm::Args& args, const Launch& launch) {
  const int64_t count = args.channels / args.groups * args.inner;
  if (args.batch <= 0 || count <= 0) return;
  const int64_t threads = std::clamp<int64_t>((count / 4 + kWarp - 1) / kWarp * kWarp, kWarp, 1024);
  launch_kernel(launch, group_kernel, dim3(static_cast<unsigned>(args.batch * args.groups)),
                dim3(static_cast<unsigned>(threads)), 0, args);
}

}  // namespace

std::span<const Row<GroupNorm>> group_norm_rows() {
  static const Row<GroupNorm> rows[] = {
      {.name = "cuda.groups",
       .device = DeviceKind::cuda,
       .supports = on_any_machine<GroupNorm, ref::legal>,
       .run = run},
  };
  return rows;
}

}  // namespace orrery::kernels::cuda
