// Rows of Resize (resize.h). An item is a row of dst; the taps of its columns are found once for all rows
// that a thread takes in turn, those of its depth and its height once for the row. The rows of src that it
// mixes are added up first, converted, in the thread's memory; then columns are mixed from that one row.
//   workspace  per thread: a mixed row of src, and the taps of a row of dst
//   traffic    src once per tap of depth and height, from L1 and L2 where rows share them; dst once
#include "kernels/resize.h"

#include <algorithm>

#include "kernels/cpu/element_runs.h"

namespace orrery::kernels {
namespace {

using RowTaps = ResizeTaps<float>;

/// What a thread has of its own.
struct ResizeScratch {
  float* row;       // (width of src)
  float* weights;   // (width of dst, 4)
  int32_t* places;  // (width of dst, 4); weight 0: not read
};

constexpr int kMostTaps = 4;

size_t bytes_of_thread(const Resize::Problem& p) {
  const auto mixed = static_cast<size_t>(p.src_size[2]),
             taps = static_cast<size_t>(p.dst_size[2]) * kMostTaps;
  return ((mixed + 2 * taps) * sizeof(float) + 63) / 64 * 64;
}

ResizeScratch scratch_of(const Resize::Problem& p, std::byte* memory) {
  auto* row = reinterpret_cast<float*>(memory);
  float* weights = row + p.src_size[2];
  return {row, weights, reinterpret_cast<int32_t*>(weights + p.dst_size[2] * kMostTaps)};
}

void find_columns(const Resize::Problem& p, const ResizeScratch& to) {
  const int count = taps_of(p.function);
  for (int64_t x = 0; x < p.dst_size[2]; ++x) {
    const RowTaps taps(p, 2, x);
    for (int t = 0; t < count; ++t) {
      to.weights[x * count + t] = t < taps.count ? taps.weight[t] : 0.0F;
      to.places[x * count + t] =
          static_cast<int32_t>(taps.element(std::min(t, taps.count - 1), p.src_size[2]));
    }
  }
}

/// The rows of src that a row of dst mixes, added up with their weights.
void mix_rows(const Resize::Args& args, int64_t plane, const RowTaps& deep, const RowTaps& high, float* to) {
  const Resize::Problem& p = args.problem;
  const int64_t width = p.src_size[2];
  std::fill_n(to, width, 0.0F);
  float part[kRun];
  bool first = true;
  for (int z = 0; z < deep.count; ++z)
    for (int y = 0; y < high.count; ++y) {
      const float weight = deep.weight[z] * high.weight[y];
      if (weight == 0) continue;
      const int64_t from = ((plane * p.src_size[0] + deep.element(z, p.src_size[0])) * p.src_size[1] +
                            high.element(y, p.src_size[1])) *
                           width;
      for (int64_t x = 0; x < width; x += kRun) {
        const int64_t n = std::min(kRun, width - x);
        load_run(p.dtype, at(p.dtype, args.src, from + x), 1, n, part);
        if (first)
          for (int64_t i = 0; i < n; ++i) to[x + i] = weight * part[i];
        else
          for (int64_t i = 0; i < n; ++i) to[x + i] += weight * part[i];
      }
      first = false;
    }
}

template <int kTaps>
void mix_columns(const ResizeScratch& scratch, int64_t begin, int64_t n, float* to) {
  const float* weights = scratch.weights + begin * kTaps;
  const int32_t* places = scratch.places + begin * kTaps;
  for (int64_t i = 0; i < n; ++i, weights += kTaps, places += kTaps) {
    float sum = 0;
    for (int t = 0; t < kTaps; ++t)
      if (weights[t] != 0) sum += weights[t] * scratch.row[places[t]];
    to[i] = sum;
  }
}

void run_rows(const Resize::Args& args, const Launch& launch) {
  const Resize::Problem& p = args.problem;
  const int64_t rows = p.planes * p.dst_size[0] * p.dst_size[1];
  split(launch, rows, p.dst_size[2] * 8, [&](int64_t begin, int64_t end, int thread) {
    const ResizeScratch scratch =
        scratch_of(p, launch.workspace + bytes_of_thread(p) * static_cast<size_t>(thread));
    find_columns(p, scratch);
    for (int64_t item = begin; item < end; ++item) {
      const int64_t plane = item / (p.dst_size[0] * p.dst_size[1]);
      const RowTaps deep(p, 0, item / p.dst_size[1] % p.dst_size[0]), high(p, 1, item % p.dst_size[1]);
      mix_rows(args, plane, deep, high, scratch.row);
      float mixed[kRun];
      for (int64_t x = 0; x < p.dst_size[2]; x += kRun) {
        const int64_t n = std::min(kRun, p.dst_size[2] - x);
        if (p.function == Resize::Function::nearest)
          mix_columns<1>(scratch, x, n, mixed);
        else if (p.function == Resize::Function::linear)
          mix_columns<2>(scratch, x, n, mixed);
        else
          mix_columns<4>(scratch, x, n, mixed);
        store_run(p.dtype, mixed, n, at(p.dtype, args.dst, item * p.dst_size[2] + x), 1);
      }
    }
  });
}

size_t resize_workspace(const Resize::Problem& problem, const Machine&, int threads) {
  return bytes_of_thread(problem) * static_cast<size_t>(threads);
}

}  // namespace

std::span<const Row<Resize>> resize_rows() {
  static const Row<Resize> rows[] = {
      {.name = "cpu.rows",
       .supports = on_any_machine<Resize, ref::legal>,
       .run = run_rows,
       .workspace = resize_workspace},
      {.name = "cpu.reference", .supports = on_any_machine<Resize, ref::legal>, .run = ref::resize},
  };
  return rows;
}

}  // namespace orrery::kernels
