// Elements that stay or become 0 by their place (mask.h).
//   band     a thread owns elements threadIdx.x + k gridDim.x blockDim.x, by their size
//   dropout  a thread owns four neighbouring columns of a row, for which it draws four numbers at once
// Neighbouring threads read and write neighbours. dst may be src: an element is written by the thread that
// read it. Bytes moved: an element of src (of a band, where it stays) and of dst each.
#include "kernels/cuda/device/element.cuh"
#include "kernels/cuda/device/one_wave.cuh"
#include "kernels/cuda/launch.h"
#include "kernels/mask.h"

namespace orrery::kernels::cuda {
namespace {

constexpr int kThreads = 256;

/// Word: an unsigned number of an element's size.
template <class Word>
__global__ void __launch_bounds__(kThreads) band_kernel(const Mask::Args args, int64_t items) {
  pdl_wait();
  pdl_trigger_in_one_wave();
  const int64_t step = static_cast<int64_t>(gridDim.x) * kThreads;
  for (int64_t i = blockIdx.x * static_cast<int64_t>(kThreads) + threadIdx.x; i < items; i += step) {
    const int64_t row = i / args.cols, col = i - row * args.cols;
    const bool stays = in_band(args, row % args.height, col);
    static_cast<Word*>(args.dst)[i] = stays ? static_cast<const Word*>(args.src)[i] : Word{0};
  }
}

__global__ void __launch_bounds__(kThreads) dropout_kernel(const Mask::Args args, int64_t items) {
  pdl_wait();
  pdl_trigger_in_one_wave();
  const DType dtype = args.problem.dtype;
  const int64_t groups = (args.cols + 3) / 4, step = static_cast<int64_t>(gridDim.x) * kThreads;
  for (int64_t i = blockIdx.x * static_cast<int64_t>(kThreads) + threadIdx.x; i < items; i += step) {
    const int64_t row = i / groups, group = i - row * groups;
    uint32_t words[4];
    args.dropout.words(row, group, words);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const int64_t col = group * 4 + j;
      if (col >= args.cols) break;
      const int64_t at = row * args.cols + col;
      const float kept = load_element<float>(dtype, args.src, at) * args.dropout.scale;
      store_element(dtype, args.dropout.keeps(words[j]) ? kept : 0.0F, args.dst, at);
    }
  }
}

void run(const Mask::Args& args, const Launch& launch) {
  if (args.rows <= 0 || args.cols <= 0) return;
  const bool drops = args.problem.function == Mask::Function::dropout;
  const int64_t items = args.rows * (drops ? (args.cols + 3) / 4 : args.cols);
  const dim3 grid = pointwise_grid(items, kThreads);
  const auto start = [&](auto kernel) {
    launch_kernel(launch, kernel, grid, dim3(kThreads), 0, args, items);
  };
  if (drops) return start(dropout_kernel);
  switch (dtype_info(args.problem.dtype).block_bytes) {
    case 1:
      return start(band_kernel<uint8_t>);
    case 2:
      return start(band_kernel<uint16_t>);
    case 4:
      return start(band_kernel<uint32_t>);
    default:
      return start(band_kernel<uint64_t>);
  }
}

}  // namespace

std::span<const Row<Mask>> mask_rows() {
  static const Row<Mask> rows[] = {
      {.name = "cuda.mask",
       .device = DeviceKind::cuda,
       .supports = on_any_machine<Mask, ref::legal>,
       .run = run},
  };
  return rows;
}

}  // namespace orrery::kernels::cuda
