// Copies and casts (copy.h): dst[i] = src[i] for every i of a walk.
// A thread owns elements threadIdx.x + k gridDim.x blockDim.x of the walk, whose dims were joined as far as
// they can be; with one dim left and both sides without gaps, 16 bytes at a time where the addresses allow
// it. Neighbouring threads write neighbouring elements of the last dim; a transpose reads them apart. Bytes
// moved: an element of src and of dst each.
#include "kernels/copy.h"
#include "kernels/cuda/device/element.cuh"
#include "kernels/cuda/device/one_wave.cuh"
#include "kernels/cuda/launch.h"

namespace orrery::kernels::cuda {
namespace {

constexpr int kThreads = 256;

struct Places {
  int64_t src, dst;
};
__device__ inline Places places_of(const Walk<2>& walk, int64_t i) {
  Places places{0, 0};
  for (int d = walk.rank - 1; d >= 0; --d) {
    const int64_t at = d > 0 ? i % walk.sizes[d] : i;
    places.src += at * walk.strides[0][d];
    places.dst += at * walk.strides[1][d];
    if (d > 0) i /= walk.sizes[d];
  }
  return places;
}

template <class Word>
__global__ void __launch_bounds__(kThreads) copy_kernel(const Copy::Args args, int64_t count) {
  pdl_wait();
  pdl_trigger_in_one_wave();
  const auto* src = static_cast<const Word*>(args.src);
  auto* dst = static_cast<Word*>(args.dst);
  const int64_t step = static_cast<int64_t>(gridDim.x) * kThreads;
  for (int64_t i = blockIdx.x * static_cast<int64_t>(kThreads) + threadIdx.x; i < count; i += step) {
    const Places places = places_of(args.walk, i);
    dst[places.dst] = src[places.src];
  }
}

/// Between: float, or int64_t where the source holds whole numbers.
template <class Between>
__global__ void __launch_bounds__(kThreads) cast_kernel(const Copy::Args args, int64_t count) {
  pdl_wait();
  pdl_trigger_in_one_wave();
  const int64_t step = static_cast<int64_t>(gridDim.x) * kThreads;
  for (int64_t i = blockIdx.x * static_cast<int64_t>(kThreads) + threadIdx.x; i < count; i += step) {
    const Places places = places_of(args.walk, i);
    store_element(args.to, load_element<Between>(args.from, args.src, places.src), args.dst, places.dst);
  }
}

using Kernel = void (*)(Copy::Args, int64_t);

Kernel kernel_of(const Copy::Args& args) {
  if (args.from != args.to) return is_float(args.from) ? cast_kernel<float> : cast_kernel<int64_t>;
  switch (dtype_info(args.from).block_bytes) {
    case 1:
      return copy_kernel<uint8_t>;
    case 2:
      return copy_kernel<uint16_t>;
    case 4:
      return copy_kernel<uint32_t>;
    default:
      return copy_kernel<uint64_t>;
  }
}

void run(const Copy::Args& asked, const Launch& launch) {
  Copy::Args args = asked;
  args.walk = collapsed(asked.walk);
  int64_t count = args.walk.elements();
  if (count == 0) return;
  Kernel kernel = kernel_of(args);
  const int64_t bytes = count * dtype_info(args.from).block_bytes;
  const bool flat = args.walk.rank == 1 && args.walk.strides[0][0] == 1 && args.walk.strides[1][0] == 1;
  if (args.from == args.to && flat && bytes % 16 == 0 && is_aligned(args.src) && is_aligned(args.dst)) {
    kernel = copy_kernel<uint4>;
    count = args.walk.sizes[0] = bytes / 16;
  }
  const dim3 grid = pointwise_grid(count, kThreads);
  launch_kernel(launch, kernel, grid, dim3(kThreads), 0, args, count);
}

}  // namespace

std::span<const Row<Copy>> copy_rows() {
  static const Row<Copy> rows[] = {
      {.name = "cuda.copy",
       .device = DeviceKind::cuda,
       .supports = on_any_machine<Copy, ref::legal>,
       .run = run},
  };
  return rows;
}

}  // namespace orrery::kernels::cuda
