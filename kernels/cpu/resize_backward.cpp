// Rows of ResizeBackward (resize.h). An item is a row of src: the rows of dst that have taps in it are added
// up first, with their weights, in the thread's memory; then each element takes the places of that one row
// that have a tap at it. Those are neighbours, and the weights are found once for all rows that a thread
// takes.
//   workspace  per thread: a mixed row of dst, the weights of its places, and where each element's begin
//   traffic    grad_dst once per tap of depth and height, from L1 and L2 where rows share them; grad_src once
#include <algorithm>

#include "kernels/cpu/element_runs.h"
#include "kernels/resize.h"

namespace orrery::kernels {
namespace {

/// What a thread has of its own.
struct ReaderScratch {
  float* row;        // (width of dst)
  float* weights;    // of the places of each element, one element's after the other's
  int64_t* readers;  // (width of src, 2): where they begin in row and how many they are
};

size_t row_bytes_of(const Resize::Problem& p) {
  return static_cast<size_t>(p.dst_size[2] * (1 + taps_of(p.function)) + 1) / 2 * 2 * sizeof(float);
}
size_t bytes_of_readers(const Resize::Problem& p) {
  return (row_bytes_of(p) + static_cast<size_t>(p.src_size[2]) * 2 * sizeof(int64_t) + 63) / 64 * 64;
}

ReaderScratch reader_scratch(const Resize::Problem& p, std::byte* memory) {
  auto* row = reinterpret_cast<float*>(memory);
  return {row, row + p.dst_size[2], reinterpret_cast<int64_t*>(memory + row_bytes_of(p))};
}

void find_readers(const Resize::Problem& p, const ReaderScratch& to) {
  float* weight = to.weights;
  for (int64_t x = 0; x < p.src_size[2]; ++x) {
    const ResizeReaders readers(p, 2, x);
    to.readers[2 * x] = readers.begin;
    to.readers[2 * x + 1] = readers.end - readers.begin;
    for (int64_t at = readers.begin; at < readers.end; ++at)
      *weight++ = readers.weight(ResizeTaps<float>(p, 2, at));
  }
}

/// The rows of dst that have taps in a row of src, added up with their weights.
void mix_readers(const ResizeBackward::Args& args, int64_t plane, const ResizeReaders& deep,
                 const ResizeReaders& high, float* to) {
  const Resize::Problem& p = args.problem;
  const int64_t width = p.dst_size[2];
  std::fill_n(to, width, 0.0F);
  float part[kRun];
  for (int64_t z = deep.begin; z < deep.end; ++z)
    for (int64_t y = high.begin; y < high.end; ++y) {
      const float weight = deep.weight(ResizeTaps<float>(p, 0, z)) * high.weight(ResizeTaps<float>(p, 1, y));
      if (weight == 0) continue;
      const int64_t from = ((plane * p.dst_size[0] + z) * p.dst_size[1] + y) * width;
      for (int64_t x = 0; x < width; x += kRun) {
        const int64_t n = std::min(kRun, width - x);
        load_run(p.dtype, at(p.dtype, args.grad_dst, from + x), 1, n, part);
        for (int64_t i = 0; i < n; ++i) to[x + i] += weight * part[i];
      }
    }
}

void run_readers(const ResizeBackward::Args& args, const Launch& launch) {
  const Resize::Problem& p = args.problem;
  const int64_t rows = p.planes * p.src_size[0] * p.src_size[1], width = p.src_size[2];
  split(launch, rows, (width + p.dst_size[2]) * 4, [&](int64_t begin, int64_t end, int thread) {
    const ReaderScratch scratch =
        reader_scratch(p, launch.workspace + bytes_of_readers(p) * static_cast<size_t>(thread));
    find_readers(p, scratch);
    for (int64_t item = begin; item < end; ++item) {
      const int64_t plane = item / (p.src_size[0] * p.src_size[1]);
      mix_readers(args, plane, ResizeReaders(p, 0, item / p.src_size[1] % p.src_size[0]),
                  ResizeReaders(p, 1, item % p.src_size[1]), scratch.row);
      const float* weight = scratch.weights;
      float sums[kRun];
      for (int64_t x = 0; x < width; x += kRun) {
        const int64_t n = std::min(kRun, width - x);
        for (int64_t i = 0; i < n; ++i) {
          const float* from = scratch.row + scratch.readers[2 * (x + i)];
          sums[i] = 0;
          for (int64_t k = scratch.readers[2 * (x + i) + 1]; k > 0; --k, ++from, ++weight)
            if (*weight != 0) sums[i] += *weight * *from;
        }
        store_run(p.dtype, sums, n, at(p.dtype, args.grad_src, item * width + x), 1);
      }
    }
  });
}

size_t readers_workspace(const Resize::Problem& problem, const Machine&, int threads) {
  return bytes_of_readers(problem) * static_cast<size_t>(std::max(threads, 1));
}

}  // namespace

std::span<const Row<ResizeBackward>> resize_backward_rows() {
  static const Row<ResizeBackward> rows[] = {
      {.name = "cpu.rows",
       .supports = on_any_machine<ResizeBackward, ref::legal>,
       .run = run_readers,
       .workspace = readers_workspace},
      {.name = "cpu.reference",
       .supports = on_any_machine<ResizeBackward, ref::legal>,
       .run = ref::resize_backward},
  };
  return rows;
}

}  // namespace orrery::kernels
