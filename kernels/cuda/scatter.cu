// Numbers put where others say (scatter.h).
//   lines    many lines: a thread owns lines threadIdx.x + k gridDim.x blockDim.x and takes the steps of each
//            in order, kAhead at a time: their places, updates and elements of dst are read side by side,
//            what meets at one place is joined in registers, and they are written in order. Neighbouring
//            lines are neighbours in memory where the last dim is not the one that is indexed.
//   shared   few long lines: a warp owns some of the places of a line, by their hash, and reads all its
//            steps, kWarp at a time. Lanes whose places nobody else has take theirs at once, the others after
//            one another, in order.
// No atomics: each place has one owner, who takes its updates in their order, so that the bits are the same
// every time. Bytes moved: an element of updates, its indices, and an element of dst read and written for
// each update; shared reads the indices once for each warp of a line, mostly from cache.
#include <algorithm>

#include "kernels/cuda/device/block_reduce.cuh"
#include "kernels/cuda/device/element.cuh"
#include "kernels/cuda/device/one_wave.cuh"
#include "kernels/cuda/launch.h"
#include "kernels/scatter.h"

namespace orrery::kernels::cuda {
namespace {

constexpr int kThreads = 128;
constexpr int kAhead = 4;
constexpr int64_t kFewLines = 1 << 14;    // fewer threads wait for memory most of the time
constexpr int64_t kLongLine = 8 * kWarp;  // steps that are worth a warp

struct Line {
  int64_t dst, updates, indices;
};
__device__ inline Line line_of(const Scatter::Args& args, int64_t line) {
  const int rank = args.lines.rank;
  return {args.lines.offset(0, line, rank), args.lines.offset(1, line, rank),
          args.lines.offset(2, line, rank)};
}
__device__ inline int64_t place_at(const Scatter::Args& args, const Line& line, int64_t step) {
  return place_of(args.problem.index, args.indices, line.indices + step * args.index_step, args.depth,
                  args.sizes, args.strides);
}
template <class T>
__device__ inline T update_at(const Scatter::Args& args, const Line& line, int64_t step) {
  return load_element<T>(args.problem.dtype, args.updates, line.updates + step * args.update_step);
}

/// What is stored is what the next update finds: rounded to the type, or its low bits.
__device__ inline float as_stored(DType dtype, float value) {
  if (dtype == DType::f16) return __half2float(__float2half_rn(value));
  if (dtype == DType::bf16) return __bfloat162float(__float2bfloat16_rn(value));
  return value;
}
__device__ inline int64_t as_stored(DType dtype, int64_t value) {
  switch (dtype) {
    case DType::i8:
      return static_cast<int8_t>(value);
    case DType::i16:
      return static_cast<int16_t>(value);
    case DType::i32:
      return static_cast<int32_t>(value);
    case DType::u8:
      return static_cast<uint8_t>(value);
    case DType::boolean:
      return value != 0;
    default:
      return value;
  }
}

template <class T>
__global__ void __launch_bounds__(kThreads) lines_kernel(const Scatter::Args args, int64_t lines) {
  pdl_wait();
  pdl_trigger_in_one_wave();
  const DType dtype = args.problem.dtype;
  const int64_t apart = static_cast<int64_t>(gridDim.x) * kThreads;
  for (int64_t own = blockIdx.x * static_cast<int64_t>(kThreads) + threadIdx.x; own < lines; own += apart) {
    const Line line = line_of(args, own);
    for (int64_t step = 0; step < args.steps; step += kAhead) {
      int64_t places[kAhead];
      T values[kAhead], updates[kAhead];
#pragma unroll
      for (int k = 0; k < kAhead; ++k)
        places[k] = step + k < args.steps ? place_at(args, line, step + k) : -1;
#pragma unroll
      for (int k = 0; k < kAhead; ++k) {
        updates[k] = places[k] < 0 ? T{0} : update_at<T>(args, line, step + k);
        values[k] = places[k] < 0 ? T{0} : load_element<T>(dtype, args.dst, line.dst + places[k]);
      }
#pragma unroll
      for (int k = 0; k < kAhead; ++k) {
#pragma unroll
        for (int before = 0; before < k; ++before)  // the last of them stays
          if (places[before] == places[k]) values[k] = values[before];
        values[k] = as_stored(dtype, scattered(args.problem.function, values[k], updates[k]));
      }
#pragma unroll
      for (int k = 0; k < kAhead; ++k)
        if (places[k] >= 0) store_element(dtype, values[k], args.dst, line.dst + places[k]);
    }
  }
}

/// A warp of `owners` warps of a line; blocks hold whole warps.
template <class T>
__global__ void __launch_bounds__(kThreads)
    shared_kernel(const Scatter::Args args, int64_t lines, unsigned owners) {
  pdl_wait();
  pdl_trigger_in_one_wave();
  const DType dtype = args.problem.dtype;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int64_t warp = (blockIdx.x * static_cast<int64_t>(kThreads) + threadIdx.x) / kWarp;
  if (warp >= lines * owners) return;
  const Line line = line_of(args, warp / owners);
  const auto self = static_cast<unsigned>(warp % owners);
  for (int64_t first = 0; first < args.steps; first += kWarp) {
    const int64_t step = first + lane;
    const int64_t place = step < args.steps ? place_at(args, line, step) : -1;
    const unsigned hash = static_cast<unsigned>(place) * 2654435761U >> 8;
    const bool mine = place >= 0 && hash % owners == self;
    const unsigned taken = __ballot_sync(kWholeWarp, mine);
    if (taken == 0) continue;
    // Lanes that have a place in common take turns; one that has none has a place of its own, before the
    // first.
    const unsigned alike = __match_any_sync(kWholeWarp, mine ? place : int64_t{-1} - lane);
    const int turn = mine ? __popc(alike & ((1U << lane) - 1)) : -1;
    const T update = mine ? update_at<T>(args, line, step) : T{0};
    for (int round = 0; __any_sync(kWholeWarp, turn >= round); ++round) {
      if (turn == round) {
        const T before = load_element<T>(dtype, args.dst, line.dst + place);
        store_element(dtype, scattered(args.problem.function, before, update), args.dst, line.dst + place);
      }
      __syncwarp();  // the next of a place finds what this one wrote
    }
  }
}

template <class T>
void start(const Scatter::Args& args, const Launch& launch) {
  const int64_t lines = args.lines.elements();
  const CardMachine& card = current_card();
  if (lines < kFewLines && args.steps >= kLongLine) {
    const int64_t warps = card.multiprocessors * (2048 / kWarp);  // that a card holds
    const auto owners = std::clamp<int64_t>(std::min(warps / lines, args.steps / kLongLine), 1, warps);
    const int64_t blocks = (lines * owners * kWarp + kThreads - 1) / kThreads;
    return launch_kernel(launch, shared_kernel<T>, dim3(static_cast<unsigned>(blocks)), dim3(kThreads), 0,
                         args, lines, static_cast<unsigned>(owners));
  }
  const dim3 grid = pointwise_grid(lines, kThreads);
  launch_kernel(launch, lines_kernel<T>, grid, dim3(kThreads), 0, args, lines);
}

void run(const Scatter::Args& args, const Launch& launch) {
  if (args.lines.elements() <= 0 || args.steps <= 0) return;
  is_float(args.problem.dtype) ? start<float>(args, launch) : start<int64_t>(args, launch);
}

}  // namespace

std::span<const Row<Scatter>> scatter_rows() {
  static const Row<Scatter> rows[] = {
      {.name = "cuda.scatter",
       .device = DeviceKind::cuda,
       .supports = on_any_machine<Scatter, ref::legal>,
       .run = run},
  };
  return rows;
}

}  // namespace orrery::kernels::cuda
