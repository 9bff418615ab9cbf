// Rows of a packed step to fewer rows (gather.h):
//   rows: dst[i] = src[index[i]]      first, last: dst[s] = a sequence's row      mean: of its rows
//   src (tokens, cols) f32      index (count) or sequence_starts (count + 1) i32      dst (count, cols) f32
// A block of 32 x 8 threads owns 32 columns of one output row. Copies are done by all its threads over 256
// columns; for a mean, warp y sums rows begin + y, begin + y + 8, ... in float64, and the eight sums are
// added in order by warp 0. An empty sequence gives zeros. dst is not src. Bytes moved: 4 per element read, 4
// per element of dst.
#include <algorithm>

#include "kernels/cuda/device/block_reduce.cuh"
#include "kernels/cuda/device/one_wave.cuh"
#include "kernels/cuda/launch.h"
#include "kernels/gather.h"

namespace orrery::kernels::cuda {
namespace {

constexpr int kLanes = 32;
constexpr int kSums = 8;

__global__ void __launch_bounds__(kLanes* kSums) copy_kernel(const Gather::Args args) {
  pdl_wait();
  pdl_trigger_in_one_wave();
  const int64_t out = blockIdx.x;
  int64_t row = 0;
  bool empty = false;
  if (args.kind == Gather::Kind::rows) {
    row = args.index[out];
  } else {
    const int64_t begin = args.sequence_starts[out];
    const int64_t end = args.sequence_starts[out + 1];
    empty = begin >= end;
    row = args.kind == Gather::Kind::first ? begin : end - 1;
  }
  const int64_t step = static_cast<int64_t>(gridDim.y) * kLanes * kSums;
  for (int64_t c = blockIdx.y * static_cast<int64_t>(kLanes * kSums) + threadIdx.x; c < args.cols; c += step)
    args.dst[out * args.cols + c] = empty ? 0.0F : args.src[row * args.cols + c];
}

__global__ void __launch_bounds__(kLanes* kSums) mean_kernel(const Gather::Args args) {
  __shared__ double sums[kSums][kLanes];
  pdl_wait();
  pdl_trigger_in_one_wave();
  const int64_t begin = args.sequence_starts[blockIdx.x];
  const int64_t end = args.sequence_starts[blockIdx.x + 1];
  for (int64_t first = blockIdx.y * static_cast<int64_t>(kLanes); first < args.cols;
       first += static_cast<int64_t>(gridDim.y) * kLanes) {
    const int64_t c = first + threadIdx.x;
    double sum = 0;
    if (c < args.cols)
      for (int64_t t = begin + threadIdx.y; t < end; t += kSums) sum += args.src[t * args.cols + c];
    sums[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y == 0 && c < args.cols) {
      sum = 0;
      for (int y = 0; y < kSums; ++y) sum += sums[y][threadIdx.x];
      args.dst[blockIdx.x * args.cols + c] =
          begin < end ? static_cast<float>(sum / static_cast<double>(end - begin)) : 0.0F;
    }
    __syncthreads();
  }
}

void run(const Gather::Args& args, const Launch& launch) {
  if (args.count <= 0) return;
  const bool mean = args.kind == Gather::Kind::mean;
  const int64_t columns = mean ? kLanes : kLanes * kSums;
  const int64_t parts = std::min<int64_t>((args.cols + columns - 1) / columns, 65535);
  launch_kernel(launch, mean ? mean_kernel : copy_kernel,
                dim3(static_cast<unsigned>(args.count), static_cast<unsigned>(parts)),
                mean ? dim3(kLanes, kSums) : dim3(kLanes * kSums), 0, args);
}

}  // namespace

std::span<const Row<Gather>> gather_rows() {
  static const Row<Gather> rows[] = {
      {.name = "cuda.gather",
       .device = DeviceKind::cuda,
       .supports = on_any_machine<Gather, ref::legal>,
       .run = run},
  };
  return rows;
}

}  // namespace orrery::kernels::cuda
