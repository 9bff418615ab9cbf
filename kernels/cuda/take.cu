// Elements found by numbers (take.h).
//   runs      long places: a warp owns places warp + k warps of dst and copies the run of src that one is, up
//             to 16 bytes a lane at a time; its numbers are looked up once
//   elements  short ones: a thread owns elements threadIdx.x + k gridDim.x blockDim.x of dst, by their size
//             and not their type; those of one place are neighbours, so that a warp reads runs of src, and an
//             index from cache
// Bytes moved: an element of src and of dst each, and the indices.
#include "kernels/cuda/device/block_reduce.cuh"
#include "kernels/cuda/device/one_wave.cuh"
#include "kernels/cuda/launch.h"
#include "kernels/take.h"

namespace orrery::kernels::cuda {
namespace {

constexpr int kThreads = 256;

struct Strides {
  int64_t of[kMaxRank];
  int64_t count;  // of all dims that are found
};

constexpr int64_t kShortRun = 64;  // bytes: fewer leave lanes without work

/// Word: what a lane moves at a time; `words` of them are a run.
template <class Word>
__global__ void __launch_bounds__(kThreads)
    runs_kernel(const Take::Args args, const Strides strides, int64_t words) {
  pdl_wait();
  pdl_trigger_in_one_wave();
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int64_t items = args.outer * args.places, step = static_cast<int64_t>(gridDim.x) * kThreads / kWarp;
  for (int64_t item = (blockIdx.x * static_cast<int64_t>(kThreads) + threadIdx.x) / kWarp; item < items;
       item += step) {
    const int64_t outer = item / args.places;
    const int64_t place =
        place_of(args.problem.index, args.indices, (item - outer * args.places) * args.depth, args.depth,
                 args.sizes, strides.of);
    const Word* src =
        static_cast<const Word*>(args.src) + (outer * strides.count + max(place, int64_t{0})) * words;
    Word* dst = static_cast<Word*>(args.dst) + item * words;
    for (int64_t i = lane; i < words; i += kWarp) dst[i] = place < 0 ? Word{} : src[i];
  }
}

/// Element: an unsigned number of the size. Index: of an element of dst; 32 bits divide faster.
template <class Element, class Index>
__global__ void __launch_bounds__(kThreads) elements_kernel(const Take::Args args, const Strides strides) {
  pdl_wait();
  pdl_trigger_in_one_wave();
  const int64_t total = args.outer * args.places * args.inner,
                step = static_cast<int64_t>(gridDim.x) * kThreads;
  const auto each = static_cast<Index>(args.inner), places = static_cast<Index>(args.places);
  for (int64_t i = blockIdx.x * static_cast<int64_t>(kThreads) + threadIdx.x; i < total; i += step) {
    const Index item = static_cast<Index>(i) / each, outer = item / places;
    const auto inner = static_cast<int64_t>(static_cast<Index>(i) - item * each);
    const int64_t place =
        place_of(args.problem.index, args.indices, static_cast<int64_t>(item - outer * places) * args.depth,
                 args.depth, args.sizes, strides.of);
    const int64_t from = (static_cast<int64_t>(outer) * strides.count + place) * args.inner + inner;
    static_cast<Element*>(args.dst)[i] = place < 0 ? Element{0} : static_cast<const Element*>(args.src)[from];
  }
}

/// The widest words that runs are made of and that lie where they may.
int word_of(const Take::Args& args, int64_t run_bytes, int element_bytes) {
  for (int word = 16; word > element_bytes; word /= 2)
    if (run_bytes % word == 0 && is_aligned(args.src, static_cast<size_t>(word)) &&
        is_aligned(args.dst, static_cast<size_t>(word)))
      return word;
  return element_bytes;
}

void run(const Take::Args& args, const Launch& launch) {
  const int64_t total = args.outer * args.places * args.inner;
  if (total <= 0) return;
  Strides strides{};
  pack_strides(args.depth, args.sizes, strides.of);
  strides.count = 1;
  for (int d = 0; d < args.depth; ++d) strides.count *= args.sizes[d];
  const auto blocks_of = [](int64_t threads) { return pointwise_grid(threads, kThreads); };
  const int bytes = dtype_info(args.problem.dtype).block_bytes;
  if (const int64_t run_bytes = args.inner * bytes; run_bytes >= kShortRun) {
    const int word = word_of(args, run_bytes, bytes);
    const auto start = [&](auto kernel) {
      launch_kernel(launch, kernel, blocks_of(args.outer * args.places * kWarp), dim3(kThreads), 0, args,
                    strides, run_bytes / word);
    };
    switch (word) {
      case 1:
        return start(runs_kernel<uint8_t>);
      case 2:
        return start(runs_kernel<uint16_t>);
      case 4:
        return start(runs_kernel<uint32_t>);
      case 8:
        return start(runs_kernel<uint2>);
      default:
        return start(runs_kernel<uint4>);
    }
  }
  const bool narrow = total <= INT32_MAX;
  const auto start = [&](auto small, auto large) {
    launch_kernel(launch, narrow ? small : large, blocks_of(total), dim3(kThreads), 0, args, strides);
  };
  switch (bytes) {
    case 1:
      return start(elements_kernel<uint8_t, uint32_t>, elements_kernel<uint8_t, uint64_t>);
    case 2:
      return start(elements_kernel<uint16_t, uint32_t>, elements_kernel<uint16_t, uint64_t>);
    case 4:
      return start(elements_kernel<uint32_t, uint32_t>, elements_kernel<uint32_t, uint64_t>);
    default:
      return start(elements_kernel<uint64_t, uint32_t>, elements_kernel<uint64_t, uint64_t>);
  }
}

}  // namespace

std::span<const Row<Take>> take_rows() {
  static const Row<Take> rows[] = {
      {.name = "cuda.take",
       .device = DeviceKind::cuda,
       .supports = on_any_machine<Take, ref::legal>,
       .run = run},
  };
  return rows;
}

}  // namespace orrery::kernels::cuda
