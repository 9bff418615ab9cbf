// Convolutions of f16 and bf16 with many channels, as products over channels that lie next to each other
// (implicit GEMM; Chetlur et al., "cuDNN: efficient primitives for deep learning", 2014). Of a group:
//   dst[o, p] = bias[o] + sum over channels and taps of weight[tap, o, c] * src[read by tap at p, c]
// where p is a place of dst in any image of the batch.
//   First src and the weights are turned, so that channels follow each other, in the workspace: src (batch,
//   groups, spatial, channels), weights (groups, taps, outputs, channels), with zeros up to a multiple of 16
//   channels. Where they are read as they lie (convolution_tiles.cu), the time goes into where each element
//   is; here that is looked up for 16 bytes at a time, in a table of all taps and places of a block.
//   A block owns 64 or 128 outputs of 128 places, and walks over channels by 64, and for each 64 over the
//   taps, so that what neighbouring taps read is still in the L1 cache. Parts come by cp.async, what lies
//   outside as zeros. Sums are float32. Results leave by way of shared memory, a thread a place, so that
//   neighbours write next to each other.
//   One tap that moves nothing (a pointwise convolution) needs none of this: src is read as it lies.
//   shared    of each stage rows of 64 channels, outputs and then places, 16-byte chunk i of row r at
//             i ^ r % 8; the table [tap][place]: rows of src, negative where there is none
//     cuda.warpgroup  64 outputs of 128 places are products of four warps (wgmma), on cards of capability 9.0
//     cuda.channels   a warp owns 32 outputs of 64 places, as 2 x 8 products of 16 x 8 over 16 channels
//                     (mma.sync)
// Preconditions: src, weight and dst of one type; all indices fit into 32 bits.
// Bytes moved: src and weights once in and out to be turned (unless they are read as they lie), then src once
// per block of outputs and, as far as the L1 cache does not have it, tap; weights once per 128 places, from
// L2; dst once.
#pragma once

#include <algorithm>
#include <string>

#include "kernels/cuda/convolution_places.cuh"
#include "kernels/cuda/device/async_copy.cuh"
#include "kernels/cuda/device/cluster.cuh"
#include "kernels/cuda/device/tensor_core.cuh"

namespace orrery::kernels::cuda::channels {

constexpr int kPlaces = 128;                      // of a block
constexpr int kDepth = 64, kChunks = kDepth / 8;  // channels of a step, and of 16 bytes
constexpr int kProduct = 16;                      // channels
constexpr int kRowBytes = kDepth * 2;

/// kGroups of 128 threads, each for 64 outputs.
template <int kGroups, int kStages>
struct Shape {
  static constexpr int groups = kGroups, stages = kStages;
  static constexpr int outputs = 64 * kGroups, threads = 128 * kGroups;
  static constexpr int stage_bytes = (outputs + kPlaces) * kRowBytes;
  static constexpr int sum_stride = kPlaces + 8;  // floats of an output's sums: rows begin 8 banks apart
  static constexpr int kAlignment = 1024;
  static_assert(stages * stage_bytes >= outputs * sum_stride * 4);

  static size_t shared_bytes(int64_t taps) {
    return kAlignment + static_cast<size_t>(stages) * stage_bytes + static_cast<size_t>(taps) * kPlaces * 4;
  }
};

/// src and weights with channels next to each other.
struct Turned {
  const uint16_t *src, *weight;
  int channels;  // with those that are zeros
};
/// Into the workspace, which has turned_bytes; or as they are, where they can be read so.
Turned turn_operands(const Convolution::Args& args, const Launch& launch);
bool reads_plainly(const Convolution::Args& args);
size_t turned_bytes(const Convolution::Problem& problem);
/// Empty where that pays and there is room for it.
std::string refusal(const Convolution::Problem& problem);
/// A row that reads them.
Row<Convolution> row_of(std::string_view name,
                        std::string (*supports)(const Convolution::Problem&, const Machine&),
                        void (*run)(const Convolution::Args&, const Launch&));

__device__ inline uint32_t chunk_at(uint32_t rows, int row, int chunk) {
  return rows + static_cast<uint32_t>(row * kRowBytes + (chunk ^ row % 8) * 16);
}

/// How src is read: as a convolution does or as its transpose, or as it lies, where each place reads its own
/// alone. Then a stage has two halves of 64 of the block's places, a row of them for each channel.
enum class Reads { convolution, transpose, plain };
constexpr int kHalfBytes = kDepth * kRowBytes;

/// For each tap and place of the block the row of src that is read there.
template <class Shape, bool kTransposed>
__device__ void fill_table(const Convolving& c, int group, int first_place, int* table) {
  const int own = static_cast<int>(threadIdx.x) % kPlaces, place = first_place + own;
  const int n = place / c.dst_volume, at = place % c.dst_volume;
  const int start_z = start_of<kTransposed>(c, 0, at / (c.dst[2] * c.dst[1])),
            start_y = start_of<kTransposed>(c, 1, at / c.dst[2] % c.dst[1]),
            start_x = start_of<kTransposed>(c, 2, at % c.dst[2]);
  const int image = (n * c.groups + group) * c.src_volume;
  for (int tap = static_cast<int>(threadIdx.x) / kPlaces; tap < c.taps; tap += Shape::groups) {
    const int z = element_at<kTransposed>(c, 0, start_z, tap / (c.kernel[2] * c.kernel[1]) * c.dilation[0]),
              y = element_at<kTransposed>(c, 1, start_y, tap / c.kernel[2] % c.kernel[1] * c.dilation[1]),
              x = element_at<kTransposed>(c, 2, start_x, tap % c.kernel[2] * c.dilation[2]);
    const bool there = n < c.batch && (z | y | x) >= 0;
    table[tap * kPlaces + own] = there ? image + (z * c.src[1] + y) * c.src[2] + x : -1;
  }
}

/// The copies of a thread: of each step one chunk of some outputs and of some places.
template <class Shape, Reads kReads>
class Bringing {
 public:
  /// Steps [first, end); `outputs`: that there are of the block's.
  __device__ Bringing(const Turned& turned, const Convolving& c, int group, int first_output, int outputs,
                      int first_place, const int* table, int first, int end)
      : turned_(turned),
        own_weight_(turned.weight + static_cast<int64_t>(group * c.taps * c.outputs + first_output + own(0)) *
                                        turned.channels),
        tap_stride_(static_cast<int64_t>(c.outputs) * turned.channels),
        table_(table + own(0)),
        taps_(c.taps),
        outputs_(outputs),
        left_(end - first),
        tap_(first % c.taps),
        channel_(first / c.taps * kDepth),
        volume_(c.src_volume) {
    if constexpr (kReads == Reads::plain) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int place = first_place + 64 * half + 8 * own_chunk(), n = place / volume_;
        const int64_t channels = static_cast<int64_t>(n * c.groups + group) * c.channels + own(0);
        plain_[half] = n < c.batch ? turned.src + channels * volume_ + place % volume_ : nullptr;
      }
    }
  }

  /// The next step into a stage; ends a group of copies, also where there is none.
  __device__ void next(uint32_t stage) {
    if (left_-- > 0) {
      bring_weights(stage);
      const uint32_t places = stage + Shape::outputs * kRowBytes;
      if constexpr (kReads == Reads::plain)
        bring_plain(places);
      else
        bring_places(places);
      if (++tap_ == taps_) tap_ = 0, channel_ += kDepth;
    }
    end_of_copies();
  }

 private:
  static constexpr int kApart = Shape::threads / kChunks;  // rows that a thread's chunks are apart

  __device__ static int own_chunk() { return static_cast<int>(threadIdx.x) % kChunks; }
  __device__ static int own(int i) { return static_cast<int>(threadIdx.x) / kChunks + i * kApart; }

  __device__ int own_channel() const { return channel_ + own_chunk() * 8; }
  __device__ bool has_channel() const { return own_channel() < turned_.channels; }
  __device__ void bring_weights(uint32_t stage) const {
    const uint16_t* const weight = own_weight_ + tap_ * tap_stride_ + own_channel();
#pragma unroll
    for (int i = 0; i < Shape::outputs / kApart; ++i)
      copy_16(chunk_at(stage, own(i), own_chunk()),
              weight + static_cast<int64_t>(i * kApart) * turned_.channels,
              has_channel() && own(i) < outputs_);
  }
  __device__ void bring_places(uint32_t places) const {
    const int* const rows = table_ + tap_ * kPlaces;
#pragma unroll
    for (int i = 0; i < kPlaces / kApart; ++i) {
      const int row = rows[i * kApart];
      copy_16_by_cache(chunk_at(places, own(i), own_chunk()),
                       turned_.src + static_cast<int64_t>(row) * turned_.channels + own_channel(),
                       has_channel() && row >= 0);
    }
  }

  __device__ void bring_plain(uint32_t places) const {
#pragma unroll
    for (int i = 0; i < 2 * kDepth / kApart; ++i) {
      constexpr int kOfHalf = kDepth / kApart;
      const uint16_t* const from = plain_[i / kOfHalf];
      const int channel = channel_ + i % kOfHalf * kApart;
      copy_16(chunk_at(places + i / kOfHalf * kHalfBytes, own(i % kOfHalf), own_chunk()),
              from + static_cast<int64_t>(channel) * volume_,
              from != nullptr && channel + own(0) < turned_.channels);
    }
  }

  const Turned& turned_;
  const uint16_t* own_weight_;
  int64_t tap_stride_;
  const int* table_;
  int taps_, outputs_;
  int left_, tap_, channel_, volume_;
  const uint16_t* plain_[2];  // where the own places of each half lie in the own first channel; null: nowhere
};

/// What Sums makes of stages, of a block of outputs and places in each cluster. Where there are fewer of
/// these than multiprocessors, the blocks of a cluster share the steps, and each adds up what all have of
/// some outputs.
template <class Shape, class Sums, Reads kReads>
__device__ void convolve(const Convolving& c, const Turned& turned) {
  extern __shared__ uint4 memory[];
  constexpr uint32_t kAlignment = Shape::kAlignment;
  const auto begin = static_cast<uint32_t>(__cvta_generic_to_shared(memory));
  const uint32_t past = (kAlignment - begin % kAlignment) % kAlignment, stages = begin + past;
  auto* const results = reinterpret_cast<float*>(reinterpret_cast<char*>(memory) + past);
  auto* const table = reinterpret_cast<int*>(results) + Shape::stages * Shape::stage_bytes / 4;
  const auto stage_at = [&](int i) {
    return stages + static_cast<uint32_t>(i % Shape::stages * Shape::stage_bytes);
  };
  const int rank = cluster_rank(), blocks = cluster_blocks();
  const int first_place = static_cast<int>(blockIdx.x) / blocks * kPlaces;
  const int first_output = static_cast<int>(blockIdx.y) * Shape::outputs;
  const int outputs = min(c.outputs - first_output, Shape::outputs);
  const int steps = c.taps * ((turned.channels + kDepth - 1) / kDepth);
  const int first = steps * rank / blocks, end = steps * (rank + 1) / blocks;
  const auto meet_all = [blocks] {
    if (blocks == 1)
      __syncthreads();
    else
      cluster_sync();
  };
  constexpr int kAhead = Shape::stages - 2;  // a stage is overwritten when the products after its own began
  for (int group = static_cast<int>(blockIdx.z); group < c.groups; group += static_cast<int>(gridDim.z)) {
    if constexpr (kReads != Reads::plain)
      fill_table<Shape, kReads == Reads::transpose>(c, group, first_place, table);
    __syncthreads();
    pdl_wait();
    Bringing<Shape, kReads> bringing(turned, c, group, first_output, outputs, first_place, table, first, end);
    Sums sums;
    for (int i = 0; i < kAhead; ++i) bringing.next(stage_at(i));
    for (int i = 0; i < end - first; ++i) {
      wait_for_copies<kAhead - 1>();  // the thread's own of this step
      sums.meet();
      bringing.next(stage_at(i + kAhead));
      sums.begin(stage_at(i));
      sums.wait();
    }
    sums.finish();
    wait_for_copies();
    __syncthreads();
    const int channel = group * c.outputs + first_output;
    sums.each_pair([&](int output, int place, float low, float high) {
      const float bias = rank == 0 && output < outputs ? c.bias_of(channel + output) : 0.0F;
      *reinterpret_cast<float2*>(results + output * Shape::sum_stride + place) = {low + bias, high + bias};
    });
    meet_all();
    const int own = static_cast<int>(threadIdx.x) % kPlaces, place = first_place + own;
    if (place < c.batch * c.dst_volume) {
      const int to =
          (place / c.dst_volume * c.groups * c.outputs + channel) * c.dst_volume + place % c.dst_volume;
      const auto each_own = [&](auto&& sum_of) {
#pragma unroll 8
        for (int output = outputs * rank / blocks + static_cast<int>(threadIdx.x) / kPlaces;
             output < outputs * (rank + 1) / blocks; output += Shape::groups)
          store_element(Sums::type, sum_of(results + output * Shape::sum_stride + own), c.to,
                        to + output * c.dst_volume);
      };
      if (blocks == 1)
        each_own([](const float* at) { return *at; });
      else
        each_own([&](float* at) {
          float sum = 0;
          for (int i = 0; i < blocks; ++i) sum += *in_block(at, i);
          return sum;
        });
    }
    meet_all();  // the next group's table and parts go there, and others have read
  }
}

/// Blocks of a cluster: as many as keep the card busy, while each has some steps. Clusters do not come out
/// even over the parts of a card that they have to lie in: some multiprocessors stay without.
template <class Shape>
int cluster_of(const Convolving& c, int channels) {
  constexpr int kLeastSteps = 6, kMostBlocks = 4;
  const CardMachine& card = current_card();
  if (!without_clusters(card).empty()) return 1;
  const int64_t blocks = int64_t{tiles_of(c.batch * int64_t{c.dst_volume}, kPlaces)} *
                         tiles_of(c.outputs, Shape::outputs) * c.groups;
  const int steps = c.taps * tiles_of(channels, kDepth);
  int cluster = 1;
  while (cluster < kMostBlocks && 20 * cluster * blocks <= 9 * card.multiprocessors &&
         2 * cluster * kLeastSteps <= steps)
    cluster *= 2;
  return cluster;
}

/// start.operator()<Reads>() of how a call reads src.
template <class Function>
void with_reads(const Convolution::Args& args, Function&& start) {
  if (args.problem.transposed) return start.template operator()<Reads::transpose>();
  if (reads_plainly(args)) return start.template operator()<Reads::plain>();
  start.template operator()<Reads::convolution>();
}

template <class Shape>
void start_blocks(void (*kernel)(Convolving, Turned), const Convolving& c, const Turned& turned,
                  const Launch& launch) {
  constexpr unsigned kMostGroups = 65535;
  const auto cluster = static_cast<unsigned>(cluster_of<Shape>(c, turned.channels));
  const dim3 grid(cluster * static_cast<unsigned>(tiles_of(c.batch * int64_t{c.dst_volume}, kPlaces)),
                  static_cast<unsigned>(tiles_of(c.outputs, Shape::outputs)),
                  std::min(static_cast<unsigned>(c.groups), kMostGroups));
  launch_clusters(launch, kernel, cluster > 1 ? cluster : 0, grid, dim3(Shape::threads),
                  Shape::shared_bytes(c.taps), c, turned);
}

}  // namespace orrery::kernels::cuda::channels
