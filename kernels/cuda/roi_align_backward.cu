// Gradients of the samples of boxes (roi_align.h): grad_src[n, c, e] = sum over cells of grad_dst * the
// weight of e in their samples.
//   cuda.elements  for the largest, a first grid finds each cell's largest sample and writes its number to
//   the
//                  workspace, a thread a cell and channel. Then a thread owns an element in up to kChannels
//                  channels, for which weights are the same. A block works out the cells of kThreads boxes at
//                  a time in shared memory; each thread goes through them, leaves out those that do not reach
//                  its element, and finds in the others the few samples around it by division. No atomics: a
//                  sum goes by boxes, cells and samples in their order, and has the same bits each time.
// Sums are float32, coordinates float64.
// Preconditions: those of ref::legal. Workspace: of the largest 8 bytes a cell and channel.
// Bytes moved: boxes once a block, grad_dst once a sample and element from L1 and L2, grad_src once.
#include "kernels/cuda/device/element.cuh"
#include "kernels/cuda/device/one_wave.cuh"
#include "kernels/cuda/launch.h"
#include "kernels/roi_align.h"

namespace orrery::kernels::cuda {
namespace {

constexpr int kThreads = 128;
constexpr int kChannels = 8;

/// A box, and which elements its samples reach: rows [top, bottom), columns [left, right).
struct ReachingBox {
  RoiCells cells;
  int64_t top, bottom, left, right;

  __device__ bool reaches(int64_t image, int64_t row, int64_t col) const {
    return cells.image == image && row >= top && row < bottom && col >= left && col < right;
  }
};

/// The elements of a dim that samples from `first` to `last`, in either direction, mix.
__device__ inline void reached(double first, double last, int64_t size, int64_t& begin, int64_t& end) {
  const double low = first < last ? first : last, high = first < last ? last : first;
  begin = end = 0;
  if (!(high >= -1.0 && low <= static_cast<double>(size))) return;  // NaN too
  begin = low > 0.0 ? min(static_cast<int64_t>(low), size - 1) : 0;
  end =
      high < static_cast<double>(size) ? min(static_cast<int64_t>(high > 0.0 ? high : 0.0) + 2, size) : size;
}

__device__ inline ReachingBox reaching_box(const RoiAlign::Problem& p, const float* box, int64_t images) {
  ReachingBox made{RoiCells(p, box, images), 0, 0, 0, 0};
  const RoiCells& cells = made.cells;
  if (cells.down <= 0 || cells.across <= 0) return made;
  reached(cells.row(0, 0), cells.row(p.rows - 1, cells.down - 1), p.height, made.top, made.bottom);
  reached(cells.col(0, 0), cells.col(p.cols - 1, cells.across - 1), p.width, made.left, made.right);
  return made;
}

/// The samples of a dim that may mix an element: [begin, end) of all that cells have, one cell after the
/// other. A sample more on either side than the division gives, as that is rounded.
struct NearSamples {
  int64_t begin, end;

  __device__ NearSamples(double first, double cell, int64_t samples, int64_t all, int64_t element,
                         int64_t size) {
    const double apart = cell / static_cast<double>(samples);
    const double low = element == 0 ? -1.0 : static_cast<double>(element - 1);
    const double high = static_cast<double>(element == size - 1 ? size : element + 1);
    begin = 0;
    end = all;
    if (apart == 0.0) return;  // all of them lie in one place
    const double a = (low - first) / apart - 0.5, b = (high - first) / apart - 0.5;
    const double from = floor(fmin(a, b)) - 1.0, to = ceil(fmax(a, b)) + 2.0;
    begin = from > 0.0 ? static_cast<int64_t>(fmin(from, static_cast<double>(all))) : 0;
    end = to < static_cast<double>(all) ? static_cast<int64_t>(fmax(to, 0.0)) : all;
  }
};

/// How much of an element a sample has; -1: it does not mix it.
__device__ inline float weight_in(const RoiSample& sample, int64_t element) {
  if (!sample.inside) return -1.0F;
  if (sample.low == element) return 1.0F - static_cast<float>(sample.part);
  return sample.high == element && sample.part != 0.0 ? static_cast<float>(sample.part) : -1.0F;
}

__device__ inline float sample_of(const RoiAlignBackward::Args& args, int64_t plane, const RoiSample& y,
                                  const RoiSample& x) {
  if (!y.inside || !x.inside) return 0.0F;
  const RoiAlign::Problem& p = args.problem.roi;
  const auto right = static_cast<float>(x.part), down = static_cast<float>(y.part);
  const auto of_row = [&](int64_t row) {
    const float first = load_element<float>(p.dtype, args.src, plane + row * p.width + x.low) * (1 - right);
    if (x.part == 0.0) return first;
    return first + load_element<float>(p.dtype, args.src, plane + row * p.width + x.high) * right;
  };
  const float upper = of_row(y.low) * (1 - down);
  return y.part == 0.0 ? upper : upper + of_row(y.high) * down;
}

__global__ void __launch_bounds__(kThreads)
    largest_kernel(const RoiAlignBackward::Args args, int64_t* found, int64_t count) {
  pdl_wait();
  pdl_trigger_in_one_wave();
  const RoiAlign::Problem& p = args.problem.roi;
  const int64_t apart = static_cast<int64_t>(gridDim.x) * kThreads;
  for (int64_t item = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x; item < count;
       item += apart) {
    const int64_t col = item % p.cols, row = item / p.cols % p.rows, plane = item / p.cols / p.rows;
    const RoiCells cells(p, args.box + plane / p.channels * 5, args.images);
    LargestSample largest;
    if (cells.image >= 0) {
      const int64_t first = (cells.image * p.channels + plane % p.channels) * p.height * p.width;
      for (int64_t s = 0; s < cells.down; ++s) {
        const RoiSample y(cells.row(row, s), p.height);
        for (int64_t t = 0; t < cells.across; ++t)
          largest.take(s * cells.across + t,
                       sample_of(args, first, y, RoiSample(cells.col(col, t), p.width)));
      }
    }
    found[item] = largest.number;
  }
}

/// An element in some channels.
struct OwnedElement {
  int64_t image, row, col, channel;
  int channels;
};

/// What a box gives to it.
__device__ inline void add_box(const RoiAlignBackward::Args& args, const int64_t* found, int64_t r,
                               const RoiCells& cells, const OwnedElement& own, float (&sums)[kChannels]) {
  const RoiAlign::Problem& p = args.problem.roi;
  const NearSamples rows(cells.y, cells.height, cells.down, p.rows * cells.down, own.row, p.height);
  const NearSamples cols(cells.x, cells.width, cells.across, p.cols * cells.across, own.col, p.width);
  const float share = p.largest ? 1.0F : 1.0F / static_cast<float>(cells.down * cells.across);
  const int64_t plane = p.rows * p.cols, first = (r * p.channels + own.channel) * plane;
  int64_t i = rows.begin / cells.down, s = rows.begin % cells.down;
  for (int64_t m = rows.begin; m < rows.end; ++m) {
    const float of_row = weight_in(RoiSample(cells.row(i, s), p.height), own.row);
    int64_t j = cols.begin / cells.across, t = cols.begin % cells.across;
    for (int64_t n = cols.begin; of_row >= 0.0F && n < cols.end; ++n) {
      const float of_col = weight_in(RoiSample(cells.col(j, t), p.width), own.col);
      if (of_col >= 0.0F) {
        const float weight = of_row * of_col * share;
        const int64_t cell = first + i * p.cols + j, sample = s * cells.across + t;
#pragma unroll
        for (int c = 0; c < kChannels; ++c)
          if (c < own.channels && (!p.largest || found[cell + c * plane] == sample))
            sums[c] += weight * load_element<float>(p.dtype, args.grad_dst, cell + c * plane);
      }
      if (++t == cells.across) t = 0, ++j;
    }
    if (++s == cells.down) s = 0, ++i;
  }
}

__global__ void __launch_bounds__(kThreads)
    elements_kernel(const RoiAlignBackward::Args args, const int64_t* found, int64_t items) {
  __shared__ alignas(ReachingBox) unsigned char memory[kThreads * sizeof(ReachingBox)];
  auto* boxes = reinterpret_cast<ReachingBox*>(memory);
  pdl_wait();
  pdl_trigger_in_one_wave();
  const RoiAlign::Problem& p = args.problem.roi;
  const int64_t groups = (p.channels + kChannels - 1) / kChannels, elements = p.height * p.width;
  const int64_t apart = static_cast<int64_t>(gridDim.x) * kThreads;
  for (int64_t block = static_cast<int64_t>(blockIdx.x) * kThreads; block < items; block += apart) {
    const int64_t item = block + threadIdx.x, group = item / elements;
    OwnedElement own{item < items ? group / groups : -2, item % elements / p.width, item % p.width,
                     group % groups * kChannels, 0};
    own.channels = static_cast<int>(min(static_cast<int64_t>(kChannels), p.channels - own.channel));
    float sums[kChannels] = {};
    for (int64_t first = 0; first < args.boxes; first += kThreads) {
      const int n = static_cast<int>(min(static_cast<int64_t>(kThreads), args.boxes - first));
      __syncthreads();  // the boxes before have been read
      if (threadIdx.x < n)
        boxes[threadIdx.x] = reaching_box(p, args.box + (first + threadIdx.x) * 5, args.images);
      __syncthreads();
      for (int b = 0; b < n; ++b)
        if (boxes[b].reaches(own.image, own.row, own.col))
          add_box(args, found, first + b, boxes[b].cells, own, sums);
    }
    if (item >= items) continue;
#pragma unroll
    for (int c = 0; c < kChannels; ++c)
      if (c < own.channels)
        store_element(p.dtype, sums[c], args.grad_src,
                      (own.image * p.channels + own.channel + c) * elements + item % elements);
  }
}

void run(const RoiAlignBackward::Args& args, const Launch& launch) {
  const RoiAlign::Problem& p = args.problem.roi;
  auto* found = reinterpret_cast<int64_t*>(launch.workspace);
  const int64_t cells = args.boxes * p.channels * p.rows * p.cols;
  if (p.largest && cells > 0)
    launch_kernel(launch, largest_kernel, pointwise_grid(cells, kThreads), dim3(kThreads), 0, args, found,
                  cells);
  const int64_t items = args.images * ((p.channels + kChannels - 1) / kChannels) * p.height * p.width;
  if (items > 0)
    launch_kernel(launch, elements_kernel, pointwise_grid(items, kThreads), dim3(kThreads), 0, args,
                  static_cast<const int64_t*>(found), items);
}

size_t workspace(const RoiAlignBackward::Problem& problem, const Machine&, int) {
  const RoiAlign::Problem& p = problem.roi;
  return p.largest ? static_cast<size_t>(problem.boxes * p.channels * p.rows * p.cols) * sizeof(int64_t) : 0;
}

}  // namespace

std::span<const Row<RoiAlignBackward>> roi_align_backward_rows() {
  static const Row<RoiAlignBackward> rows[] = {
      {.name = "cuda.elements",
       .device = DeviceKind::cuda,
       .supports = on_any_machine<RoiAlignBackward, ref::legal>,
       .run = run,
       .workspace = workspace},
  };
  return rows;
}

}  // namespace orrery::kernels::cuda
