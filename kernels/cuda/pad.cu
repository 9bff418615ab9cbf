// Padding (pad.h).
// A thread owns elements threadIdx.x + k gridDim.x blockDim.x of dst, by their size and not their type.
// Neighbouring threads write neighbouring elements, and read such but where the last dim is mirrored. Bytes
// moved: an element of dst each, and one of src where it comes from there.
#include "kernels/cuda/device/one_wave.cuh"
#include "kernels/cuda/launch.h"
#include "kernels/pad.h"

namespace orrery::kernels::cuda {
namespace {

constexpr int kThreads = 256;

struct PadStrides {
  int64_t of[kMaxRank];
};

/// Word: an unsigned number of an element's size.
template <class Word>
__global__ void __launch_bounds__(kThreads)
    pad_kernel(const Pad::Args args, const PadStrides strides, int64_t total) {
  pdl_wait();
  pdl_trigger_in_one_wave();
  const int64_t step = static_cast<int64_t>(gridDim.x) * kThreads;
  for (int64_t i = blockIdx.x * static_cast<int64_t>(kThreads) + threadIdx.x; i < total; i += step) {
    int64_t from = 0, left = i;
    bool inside = true;
    for (int d = args.problem.rank - 1; d >= 0; --d) {
      const int64_t at = d > 0 ? left % args.padded[d] : left;
      if (d > 0) left /= args.padded[d];
      const int64_t place = padded_from(args.problem.mode, at - args.before[d], args.sizes[d]);
      inside = inside && place >= 0;
      from += place * strides.of[d];
    }
    static_cast<Word*>(args.dst)[i] =
        inside ? static_cast<const Word*>(args.src)[from] : static_cast<Word>(args.value);
  }
}

void run(const Pad::Args& args, const Launch& launch) {
  PadStrides strides{};
  pack_strides(args.problem.rank, args.sizes, strides.of);
  int64_t total = 1;
  for (int d = 0; d < args.problem.rank; ++d) total *= args.padded[d];
  if (total <= 0) return;
  const dim3 grid = pointwise_grid(total, kThreads);
  const auto start = [&](auto kernel) {
    launch_kernel(launch, kernel, grid, dim3(kThreads), 0, args, strides, total);
  };
  switch (dtype_info(args.problem.dtype).block_bytes) {
    case 1:
      return start(pad_kernel<uint8_t>);
    case 2:
      return start(pad_kernel<uint16_t>);
    case 4:
      return start(pad_kernel<uint32_t>);
    default:
      return start(pad_kernel<uint64_t>);
  }
}

}  // namespace

std::span<const Row<Pad>> pad_rows() {
  static const Row<Pad> rows[] = {
      {.name = "cuda.pad",
       .device = DeviceKind::cuda,
       .supports = on_any_machine<Pad, ref::legal>,
       .run = run},
  };
  return rows;
}

}  // namespace orrery::kernels::cuda
