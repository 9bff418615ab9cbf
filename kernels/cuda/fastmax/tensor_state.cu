// States of Fastmax on tensor cores, operands of bf16: for each feature t (Sizes of tensor.cuh) and number e
// of u, which is (value, 1) of a key, and (inverse d, -inverse d . o) of a query (gradients.cu),
//   sums[t, e] = sum over the producers y of a slot of x_t(y) u[e], of rows as they are stored
//   moments: those of all slots a consumer sees, and all heads of a unit, times the weights of the features
//   A warp owns kOwned tiles of 16 features for all columns, in registers, over all producers of its slot,
//   which come 64 at a time into shared memory. Operand A is made where it is used: rows that ldmatrix has
//   turned, 16 elements of 16 producers, times one element of each; it is in memory nowhere, not even in
//   shared. Products of two elements are rounded to bf16; sums are float32, each in the order of its
//   producers.
// Bytes moved: rows and what they bring once for each 4 kOwned tiles (from L2), a state of float32 twice a
// slot.
#include <algorithm>

#include "kernels/cuda/fastmax/tensor.cuh"

namespace orrery::kernels::cuda::fastmax {
namespace {

constexpr int kStateWarps = 4, kStateThreads = 32 * kStateWarps;
template <int kDim>
constexpr int kOwned = kDim > 64 ? 2 : 4;

/// Behind two stages of tiles of rows and of what they bring: what query sums give for each producer.
template <int kDim>
constexpr int kLastAt = 4 * Sizes<kDim>::kKeys* Sizes<kDim>::kPitch;
template <int kDim>
constexpr size_t kStateShared = kLastAt<kDim> + 2 * Sizes<kDim>::kKeys * sizeof(QuerySums);

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

/// kSums: the last number is what query sums give. Grid: (warps of tiles, heads x slots).
template <int kDim, bool kSums>
__global__ void __launch_bounds__(kStateThreads, kDim > 64 ? 1 : 2)
    state_kernel(const Fastmax::Problem problem, const Producers producers, const Slots slots,
                 int64_t first_head, int tiles, float* sums) {
  using Size = Sizes<kDim>;
  constexpr int kKeys = Size::kKeys, kTileBytes = kKeys * Size::kPitch;
  extern __shared__ uint4 memory[];
  pdl_wait();
  const auto shared = static_cast<uint32_t>(__cvta_generic_to_shared(memory));
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int g = lane / 4, c = lane % 4;
  const auto dim = static_cast<int>(problem.head_dim);
  const int64_t number = first_head + blockIdx.y / slots.count, slot = blockIdx.y % slots.count;
  const int64_t batch = number / producers.heads, head = number % producers.heads;
  const Rows rows(producers.rows, producers.row_strides, batch, head),
      brought(producers.brought, producers.brought_strides, batch, head);
  const auto* of_shared =
      reinterpret_cast<const QuerySums*>(reinterpret_cast<const std::byte*>(memory) + kLastAt<kDim>);
  const int64_t begin = slots.begin(slot), end = slots.end(slot);
  const auto count = static_cast<int>((end - begin + kKeys - 1) / kKeys);

  const int first_tile = (static_cast<int>(blockIdx.x) * kStateWarps + warp) * kOwned<kDim>;
  const int squares = problem.p == 2 ? Size::kSquares : 0;
  Tile tile[kOwned<kDim>];
#pragma unroll
  for (int i = 0; i < kOwned<kDim>; ++i) tile[i] = Tile::of<kDim>(first_tile + i, squares);
  float total[kOwned<kDim>][Size::kAcross][4] = {};

  const auto bring = [&](int i) {
    if (i < count) {
      const uint32_t to = shared + static_cast<uint32_t>(i % 2 * 2 * kTileBytes);
      copy_rows<kDim, kKeys, kStateThreads>(to, rows, begin + int64_t{i} * kKeys, end, dim);
      copy_rows<kDim, kKeys, kStateThreads>(to + kTileBytes, brought, begin + int64_t{i} * kKeys, end, dim);
      if constexpr (kSums) {
        const auto own = static_cast<int>(threadIdx.x);
        const int64_t place = begin + int64_t{i} * kKeys + own;
        const QuerySums* from = producers.sums + number * slots.producers;
        if (own < kKeys)
          copy_8(shared + static_cast<uint32_t>(kLastAt<kDim> + (i % 2 * kKeys + own) * sizeof(QuerySums)),
                 place < end ? from + place : from, place < end);
      }
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
      uint32_t low = ones_column<DType::bf16>(lane), high = low;
      if constexpr (kSums) {
        const auto two = [&](const QuerySums* last) {
          return g != 0 ? 0U
                        : pack_halves<DType::bf16>(-last[0].inverse * last[0].product,
                                                   -last[1].inverse * last[1].product);
        };
        const QuerySums* last = of_shared + i % 2 * kKeys + 16 * step + 2 * c;
        low = two(last);
        high = two(last + 8);
      }
#pragma unroll
      for (int t = 0; t < kOwned<kDim>; ++t)
        multiply<DType::bf16>(total[t][Size::kAcross - 1], a[t], low, high);
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

/// A thread two columns of a feature, through all slots of a unit and all heads of producers in each.
template <int kDim>
__global__ void add_up_kernel(const Fastmax::Args args, const Producers producers, const Slots slots,
                              int64_t first_unit, int heads, int tiles, const float* sums,
                              __nv_bfloat16* weighed, float* ones) {
  using Size = Sizes<kDim>;
  pdl_wait();
  const int64_t pair = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
  const int64_t elements = int64_t{tiles} * Size::kTileElements, kept = elements - Size::kTileElements;
  const int64_t at = 2 * pair;
  if (at >= kept + Size::kColumns) return;  // of the last tile only the first row
  const int64_t unit = blockIdx.y;
  const auto tile = static_cast<int>(at / Size::kTileElements);
  const int squares = args.problem.p == 2 ? Size::kSquares : 0;
  float weight = args.a0;
  if (tile < squares) {
    int block = 0;
    while (8 * (block + 1) * (block + 2) <= tile) ++block;
    const bool same = (tile - 8 * block * (block + 1)) / 16 == block;
    weight = same ? args.a2 : 2 * args.a2;
  } else if (at < kept) {
    weight = args.a1;
  }
  float2 total = {0.0F, 0.0F};
  for (int64_t i = 0; i < slots.count; ++i) {
    const int64_t slot = slots.backwards ? slots.count - 1 - i : i;
    for (int member = 0; member < heads; ++member) {
      const int64_t head = unit * heads + member;
      const float factor = producers.scales[first_unit * heads + head].factor / producers.divisor;
      const float by = tile < squares ? weight * factor * factor : at < kept ? weight * factor : weight;
      const float2 own = *reinterpret_cast<const float2*>(sums + (head * slots.count + slot) * elements + at);
      total.x = fmaf(by, own.x, total.x);
      total.y = fmaf(by, own.y, total.y);
    }
    if (!slots.causal && i + 1 < slots.count) continue;
    if (at < kept)
      *reinterpret_cast<uint32_t*>(weighed + (unit * slots.count + slot) * kept + at) =
          pack_halves<DType::bf16>(total.x, total.y);
    else
      *reinterpret_cast<float2*>(ones + (unit * slots.count + slot) * Size::kColumns + (at - kept)) = total;
  }
}

template <int kDim>
void launch_moments(const Fastmax::Args& args, const Producers& producers, const Slots& slots,
                    int64_t first_unit, int64_t units, const StateRoom& room, const Launch& launch) {
  const int64_t tiles = state_tiles_of<kDim>(args.problem.p), each = kStateWarps * kOwned<kDim>;
  const int64_t heads = producers.heads / args.problem.kv_heads;
  const auto kernel = producers.sums != nullptr ? state_kernel<kDim, true> : state_kernel<kDim, false>;
  launch_kernel(launch, kernel,
                dim3(static_cast<unsigned>((tiles + each - 1) / each),
                     static_cast<unsigned>(units * heads * slots.count)),
                dim3(kStateThreads), kStateShared<kDim>, args.problem, producers, slots, first_unit * heads,
                static_cast<int>(tiles), room.sums);
  const int64_t pairs = (tiles - 1) * Sizes<kDim>::kTileElements / 2 + Sizes<kDim>::kColumns / 2;
  launch_kernel(launch, add_up_kernel<kDim>,
                dim3(static_cast<unsigned>((pairs + 255) / 256), static_cast<unsigned>(units)), dim3(256), 0,
                args, producers, slots, first_unit, static_cast<int>(heads), static_cast<int>(tiles),
                room.sums, room.weighed, room.ones);
}

}  // namespace

int64_t padded_head(int64_t dim) { return dim <= 32 ? 32 : dim <= 64 ? 64 : 128; }

States::States(const Fastmax::Problem& problem, bool of_queries) {
  const int64_t dim = padded_head(problem.head_dim), units = problem.batch * problem.kv_heads;
  const int64_t producers = of_queries ? problem.queries : problem.keys;
  const int64_t consumers = of_queries ? problem.keys : problem.queries;
  tiles = dim == 32   ? state_tiles_of<32>(problem.p)
          : dim == 64 ? state_tiles_of<64>(problem.p)
                      : state_tiles_of<128>(problem.p);
  columns = dim + 8;
  heads = of_queries ? group_of(problem) : 1;
  if (problem.causal) {
    tokens = dim <= 32 ? 512 : dim <= 64 ? 1024 : 2048;  // whole blocks of consumers
    slots = std::max<int64_t>(1, (consumers + tokens - 1) / tokens);
  } else {
    // As many as let the states alone fill a card, of at least 2048 producers.
    const int64_t blocks = units * heads * ((tiles + 7) / 8);
    slots = std::clamp<int64_t>(512 / std::max<int64_t>(blocks, 1), 1, (producers + 2047) / 2048);
    tokens = (producers + slots - 1) / slots;
    tokens = (tokens + 63) / 64 * 64;
  }
  const int64_t bytes = slots * tiles * 16 * columns * (4 * heads + 2);
  at_once = std::clamp<int64_t>(kStateBytes / bytes, 1, units);
  at_once = std::min<int64_t>(at_once, 65535 / (slots * std::max<int64_t>(group_of(problem), 1)));
  at_once = std::max<int64_t>(at_once, 1);
}

StateRoom::StateRoom(const States& states, Room& room)
    : sums(room.take<float>(states.at_once * states.heads * states.slots * states.cost())),
      weighed(
          room.take<__nv_bfloat16>(states.at_once * states.slots * (states.cost() - 16 * states.columns))),
      ones(room.take<float>(states.at_once * states.slots * states.columns)) {}

Moments make_moments(const Fastmax::Args& args, const Producers& producers, const Slots& slots,
                     int64_t first_unit, int64_t units, const StateRoom& room, const Launch& launch) {
  const int64_t dim = padded_head(args.problem.head_dim);
  const auto make = dim == 32 ? launch_moments<32> : dim == 64 ? launch_moments<64> : launch_moments<128>;
  make(args, producers, slots, first_unit, units, room, launch);
  return {room.weighed, room.ones};
}

Producers keys_of(const Fastmax::Args& args, const Scales& scales) {
  return {.rows = args.key,
          .brought = args.value,
          .row_strides = args.key_strides,
          .brought_strides = args.value_strides,
          .heads = args.problem.kv_heads,
          .scales = scales.of_key,
          .divisor = args.temperature};
}

Slots slots_of_keys(const Fastmax::Args& args, const States& states) {
  return {states.slots, states.tokens, args.keys - args.queries, args.keys, args.problem.causal, false};
}

}  // namespace orrery::kernels::cuda::fastmax
