// Samples of boxes (roi_align.h): dst[r, c, i, j] = mean or largest of the samples of a cell.
//   cuda.cells  a thread owns a cell of a box and a channel. Neighbouring threads own neighbouring cells,
//               whose samples are close to each other.
// Sums are float32 in the order of the samples, coordinates float64.
// Preconditions: none. Bytes moved: four elements a sample, mostly from L1 and L2; dst once.
#include "kernels/cuda/device/element.cuh"
#include "kernels/cuda/device/one_wave.cuh"
#include "kernels/cuda/launch.h"
#include "kernels/roi_align.h"

namespace orrery::kernels::cuda {
namespace {

constexpr int kThreads = 128;

__device__ inline float sample(const RoiAlign::Args& args, int64_t plane, const RoiSample& y,
                               const RoiSample& x) {
  if (!y.inside || !x.inside) return 0.0F;
  const auto element = [&](int64_t row, int64_t col) {
    return load_element<float>(args.problem.dtype, args.src, plane + row * args.problem.width + col);
  };
  const auto right = static_cast<float>(x.part), down = static_cast<float>(y.part);
  const float upper = element(y.low, x.low) * (1 - right) + element(y.low, x.high) * right;
  const float lower = element(y.high, x.low) * (1 - right) + element(y.high, x.high) * right;
  return upper * (1 - down) + lower * down;
}

__global__ void __launch_bounds__(kThreads) cells_kernel(const RoiAlign::Args args, int64_t elements) {
  pdl_wait();
  pdl_trigger_in_one_wave();
  const RoiAlign::Problem& p = args.problem;
  const int64_t apart = static_cast<int64_t>(gridDim.x) * kThreads;
  for (int64_t item = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x; item < elements;
       item += apart) {
    const int64_t col = item % p.cols, row = item / p.cols % p.rows, plane = item / p.cols / p.rows;
    const RoiCells cells(p, args.box + plane / p.channels * 5, args.images);
    float sum = 0, largest = -INFINITY;
    if (cells.image >= 0) {
      const int64_t first = (cells.image * p.channels + plane % p.channels) * p.height * p.width;
      for (int64_t s = 0; s < cells.down; ++s) {
        const RoiSample y(cells.row(row, s), p.height);
        for (int64_t t = 0; t < cells.across; ++t) {
          const float value = sample(args, first, y, RoiSample(cells.col(col, t), p.width));
          sum += value;
          if (value > largest || isnan(value)) largest = value;
        }
      }
    }
    const int64_t count = cells.down * cells.across;
    float value = p.largest ? largest : sum / static_cast<float>(count);
    if (count == 0) value = 0.0F;
    if (cells.image < 0) value = NAN;
    store_element(p.dtype, value, args.dst, item);
  }
}

void run(const RoiAlign::Args& args, const Launch& launch) {
  const int64_t elements = args.boxes * args.problem.channels * args.problem.rows * args.problem.cols;
  if (elements <= 0) return;
  const dim3 grid = pointwise_grid(elements, kThreads);
  launch_kernel(launch, cells_kernel, grid, dim3(kThreads), 0, args, elements);
}

}  // namespace

std::span<const Row<RoiAlign>> roi_align_rows() {
  static const Row<RoiAlign> rows[] = {
      {.name = "cuda.cells",
       .device = DeviceKind::cuda,
       .supports = on_any_machine<RoiAlign, ref::legal>,
       .run = run},
  };
  return rows;
}

}  // namespace orrery::kernels::cuda
