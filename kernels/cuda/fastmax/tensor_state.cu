// States of Fastmax on tensor cores: for each feature t (Sizes of tensor.cuh) and column e of (value, 1)
//   sums[t, e] = sum over keys j of a slot of x_t(key_j) (value_j, 1)[e], of keys as they are stored
//   A warp owns kOwned tiles of 16 features for all columns, in registers, over all keys of its slot, which
//   come 64 at a time into shared memory. Operand A is made where it is used: keys that ldmatrix has turned,
//   16 elements of 16 keys, times one element of each key; it is in memory nowhere, not even in shared.
//   Products of two elements are rounded to bf16; sums are float32, each in the order of its keys.
// Bytes moved: keys and values once for each 4 kOwned tiles (from L2), a state of float32 once a slot.
#include "kernels/cuda/fastmax/tensor.cuh"

namespace orrery::kernels::cuda::fastmax {
namespace {

constexpr int kStateWarps = 4, kStateThreads = 32 * kStateWarps;
template <int kDim>
constexpr int kOwned = kDim > 64 ? 2 : 4;

template <int kDim>
constexpr size_t state_shared() {
  return static_cast<size_t>(4 * Sizes<kDim>::kKeys * Sizes<kDim>::kPitch);
}

/// A tile of features: of x_m x_n, x_n (m < 0), or 1 (block < 0).
struct Tile {
  int block, m;
  bool there;

  template <int kDim>
  static __device__ Tile of(int number, int squares) {
    if (number >= squares) {
      const int block = number - squares;
      return {block < Sizes<kDim>::kBlocks ? block : -1, -1, block <= Sizes<kDim>::kBlocks};
    }
    int block = 0;
    while (8 * (block + 1) * (block + 2) <= number) ++block;
    return {block, number - 8 * block * (block + 1), true};
  }
};

template <int kDim>
__global__ void __launch_bounds__(kStateThreads, kDim > 64 ? 1 : 2)
    state_kernel(const Fastmax::Args args, const Slots slots, int64_t first_unit, int tiles, float* sums) {
  using Size = Sizes<kDim>;
  constexpr int kKeys = Size::kKeys, kTileBytes = kKeys * Size::kPitch;
  extern __shared__ uint4 memory[];
  pdl_wait();
  const auto shared = static_cast<uint32_t>(__cvta_generic_to_shared(memory));
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int g = lane / 4, c = lane % 4;
  const auto dim = static_cast<int>(args.problem.head_dim);
  const int64_t unit = first_unit + blockIdx.y / slots.count, slot = blockIdx.y % slots.count;
  const int64_t batch = unit / args.problem.kv_heads, head = unit % args.problem.kv_heads;
  const Rows keys(args.key, args.key_strides, batch, head),
      values(args.value, args.value_strides, batch, head);
  const int64_t begin = slots.begin(slot), end = slots.end(slot);
  const auto count = static_cast<int>((end - begin + kKeys - 1) / kKeys);

  const int first_tile = (static_cast<int>(blockIdx.x) * kStateWarps + warp) * kOwned<kDim>;
  const int squares = args.problem.p == 2 ? Size::kSquares : 0;
  Tile tile[kOwned<kDim>];
#pragma unroll
  for (int i = 0; i < kOwned<kDim>; ++i) tile[i] = Tile::of<kDim>(first_tile + i, squares);
  float total[kOwned<kDim>][Size::kAcross][4] = {};

  const auto bring = [&](int i) {
    if (i < count) {
      const uint32_t to = shared + static_cast<uint32_t>(i % 2 * 2 * kTileBytes);
      copy_rows<kDim, kKeys, kStateThreads>(to, keys, begin + int64_t{i} * kKeys, end, dim);
      copy_rows<kDim, kKeys, kStateThreads>(to + kTileBytes, values, begin + int64_t{i} * kKeys, end, dim);
    }
    end_of_copies();
  };
  bring(0);
  bring(1);
  for (int i = 0; i < count; ++i) {
    wait_for_copies<1>();
    __syncthreads();
    const uint32_t key_tile = shared + static_cast<uint32_t>(i % 2 * 2 * kTileBytes);
    const uint32_t value_tile = key_tile + kTileBytes;
#pragma unroll
    for (int step = 0; step < kKeys / 16; ++step) {
      uint32_t a[kOwned<kDim>][4];
#pragma unroll
      for (int t = 0; t < kOwned<kDim>; ++t) {
        if (tile[t].block < 0) {  // 1 of the keys that are there, in the first row
          const int64_t key = begin + int64_t{i} * kKeys + step * 16 + 2 * c;
          const auto ones = [&](int64_t j) {
            return g != 0 ? 0U : (j < end ? 0x3F80U : 0U) | (j + 1 < end ? 0x3F800000U : 0U);
          };
          a[t][0] = ones(key);
          a[t][2] = ones(key + 8);
          a[t][1] = a[t][3] = 0;
          continue;
        }
        const int row = step * 16 + lane / 16 * 8 + lane % 8;
        load_turned(a[t], key_tile + static_cast<uint32_t>(row * Size::kPitch + 32 * tile[t].block +
                                                           lane / 8 % 2 * 16));
        if (tile[t].m < 0) continue;
        const uint32_t at =
            key_tile + static_cast<uint32_t>((step * 16 + 2 * c) * Size::kPitch + 2 * tile[t].m);
        const uint32_t low = load_half(at) | load_half(at + Size::kPitch) << 16;
        const uint32_t high = load_half(at + 8 * Size::kPitch) | load_half(at + 9 * Size::kPitch) << 16;
        a[t][0] = times(a[t][0], low);
        a[t][1] = times(a[t][1], low);
        a[t][2] = times(a[t][2], high);
        a[t][3] = times(a[t][3], high);
      }
#pragma unroll
      for (int pair = 0; pair < kDim / 16; ++pair) {
        uint32_t b[4];
        load_turned(b, value_tile + static_cast<uint32_t>((step * 16 + lane % 16) * Size::kPitch + 32 * pair +
                                                          lane / 16 * 16));
#pragma unroll
        for (int t = 0; t < kOwned<kDim>; ++t) {
          multiply<DType::bf16>(total[t][2 * pair], a[t], b[0], b[1]);
          multiply<DType::bf16>(total[t][2 * pair + 1], a[t], b[2], b[3]);
        }
      }
      const uint32_t ones = ones_column<DType::bf16>(lane);
#pragma unroll
      for (int t = 0; t < kOwned<kDim>; ++t)
        multiply<DType::bf16>(total[t][Size::kAcross - 1], a[t], ones, ones);
    }
    __syncthreads();  // before the tiles are filled anew
    bring(i + 2);
  }
#pragma unroll
  for (int t = 0; t < kOwned<kDim>; ++t) {
    if (!tile[t].there || first_tile + t >= tiles) continue;
    float* to = sums + (blockIdx.y * static_cast<int64_t>(tiles) + first_tile + t) * Size::kTileElements;
#pragma unroll
    for (int n = 0; n < Size::kAcross; ++n) {
      const auto& x = total[t][n];
      *reinterpret_cast<float2*>(to + g * Size::kColumns + 8 * n + 2 * c) = {x[0], x[1]};
      *reinterpret_cast<float2*>(to + (g + 8) * Size::kColumns + 8 * n + 2 * c) = {x[2], x[3]};
    }
  }
}

template <int kDim>
void launch_states(const Fastmax::Args& args, const Slots& slots, int64_t first_unit, int64_t units,
                   float* sums, const Launch& launch) {
  const int64_t tiles = state_tiles(args.problem), each = kStateWarps * kOwned<kDim>;
  launch_kernel(
      launch, state_kernel<kDim>,
      dim3(static_cast<unsigned>((tiles + each - 1) / each), static_cast<unsigned>(units * slots.count)),
      dim3(kStateThreads), state_shared<kDim>(), args, slots, first_unit, static_cast<int>(tiles), sums);
}

}  // namespace

int64_t padded_head(int64_t dim) { return dim <= 32 ? 32 : dim <= 64 ? 64 : 128; }

int64_t state_tiles(const Fastmax::Problem& problem) {
  const int64_t dim = padded_head(problem.head_dim);
  return dim == 32   ? state_tiles_of<32>(problem.p)
         : dim == 64 ? state_tiles_of<64>(problem.p)
                     : state_tiles_of<128>(problem.p);
}

void make_states(const Fastmax::Args& args, const Slots& slots, int64_t first_unit, int64_t units,
                 float* sums, const Launch& launch) {
  const int64_t dim = padded_head(args.problem.head_dim);
  const auto make = dim == 32 ? launch_states<32> : dim == 64 ? launch_states<64> : launch_states<128>;
  make(args, slots, first_unit, units, sums, launch);
}

}  // namespace orrery::kernels::cuda::fastmax
