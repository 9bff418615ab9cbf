// Gradients of Fastmax on tensor cores, operands of f16 or bf16 (fastmax.h), heads of up to 128. With x = q .
// k of rows as they are stored, c what that is multiplied by, d_i = grad_out_i (1 + noise_i):
//   p_ij = share f(c x) / sum_j f    w_ij = share f'(c x) (d_i . value_j - d_i . o_i) / sum_j f
//   share grad_value_j = sum_i p_ij d_i    share grad_query_i ~ sum_j w_ij key_j    share grad_key_j ~ sum_i
//   w_ij query_i
// The forward kernels leave share / sum_j f and d_i . o_i of each query (tensor.cu). Then one kernel, in two
// roles:
//   queries  a block owns 16 kTiles queries a warp, and walks over the keys that they see
//   keys     a block owns keys, and walks over the queries that see them, head after head of its group
// Either way there are two own tiles (query and d, or key and value), whose fragments a warp keeps in
// registers, and two of the others, 64 rows of which lie in shared memory in two stages (cp.async). A warp
// takes 16 of them at a time: scores and d . value are two products, p and w are made of them in registers
// and are, rounded, factors of the next products as they are. Each gradient is added up by one warp in one
// order: no atomics, the same bits each time. share is a power of two near the root of the number of keys: p
// and w of f16 stay far from both ends of its range. Through what rows were multiplied by only the longest
// row's gradient changes, by the sum over all rows of gradient . row: blocks leave their parts of that sum,
// and the longest row as float32, for a last small kernel. Bytes moved: own rows once; the others once for
// each block (from L2).
#include <algorithm>
#include <cmath>

#include "kernels/cuda/device/block_reduce.cuh"
#include "kernels/cuda/device/element.cuh"
#include "kernels/cuda/fastmax/tensor.cuh"

namespace orrery::kernels::cuda::fastmax {
namespace {

/// What is known of the queries' or the keys' longest row of each head.
struct LongestRoom {
  double* parts = nullptr;  // (heads, blocks): of the sum of gradient . row
  float* rows = nullptr;    // (heads, head_dim): its gradient
};

/// One call.
struct Walk {
  Fastmax::Args args;
  Scales scales;
  const void* d = nullptr;
  HeadStrides d_strides;
  const QuerySums* sums = nullptr;
  float share = 1.0F;
  int blocks = 1;              // of a head
  LongestRoom longest;         // of what is owned
  void* grad = nullptr;        // of query or key
  void* grad_value = nullptr;  // keys
};

template <int kDim, bool kOwnsKeys>
struct GradientSizes {
  using Size = Sizes<kDim>;
  // Tiles of 16 rows that a warp owns: their fragments and totals have to fit registers.
  static constexpr int kTiles = kOwnsKeys ? (kDim <= 32 ? 2 : 1) : (kDim <= 64 ? 2 : 1);
  static constexpr int kOwn = Size::kWarps * 16 * kTiles;
  static constexpr int kOthers = Size::kKeys;
  static constexpr int kOwnBytes = kOwn * Size::kPitch, kOtherBytes = kOthers * Size::kPitch;
  static constexpr int kSumsAt = 2 * kOwnBytes + 4 * kOtherBytes;
  static constexpr int kShared = kSumsAt + 2 * kOthers * static_cast<int>(sizeof(QuerySums));
};

/// 8 bytes from global to shared memory; zeros where there is nothing.
__device__ inline void copy_8(uint32_t to, const void* from, bool there) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(to), "l"(from), "r"(there ? 8 : 0)
               : "memory");
}

/// Fragments of a warp's own rows.
template <int kTiles, int kDim>
__device__ inline void load_own(uint32_t (&to)[kTiles][kDim / 16][4], uint32_t rows, int lane) {
#pragma unroll
  for (int t = 0; t < kTiles; ++t)
#pragma unroll
    for (int block = 0; block < kDim / 16; ++block)
      load_matrices(to[t][block], rows + static_cast<uint32_t>((16 * t + lane % 16) * Sizes<kDim>::kPitch +
                                                               32 * block + lane / 16 * 16));
}

/// products = own rows . 16 others at `others`.
template <DType kType, int kTiles, int kDim>
__device__ inline void multiply_own(float (&products)[kTiles][2][4],
                                    const uint32_t (&own)[kTiles][kDim / 16][4], uint32_t others, int lane) {
  const uint32_t at =
      others + static_cast<uint32_t>((lane / 16 * 8 + lane % 8) * Sizes<kDim>::kPitch + lane / 8 % 2 * 16);
#pragma unroll
  for (int block = 0; block < kDim / 16; ++block) {
    uint32_t b[4];
    load_matrices(b, at + static_cast<uint32_t>(32 * block));
#pragma unroll
    for (int t = 0; t < kTiles; ++t) {
      multiply<kType>(products[t][0], own[t][block], b[0], b[1]);
      multiply<kType>(products[t][1], own[t][block], b[2], b[3]);
    }
  }
}

/// totals += factors of own rows and 16 others, times those others' rows.
template <DType kType, int kTiles, int kDim>
__device__ inline void add_others(float (&totals)[kTiles][kDim / 8][4], const uint32_t (&factors)[kTiles][4],
                                  uint32_t others, int lane) {
  const uint32_t at = others + static_cast<uint32_t>(lane % 16 * Sizes<kDim>::kPitch + lane / 16 * 16);
#pragma unroll
  for (int pair = 0; pair < kDim / 16; ++pair) {
    uint32_t b[4];
    load_turned(b, at + static_cast<uint32_t>(32 * pair));
#pragma unroll
    for (int t = 0; t < kTiles; ++t) {
      multiply<kType>(totals[t][2 * pair], factors[t], b[0], b[1]);
      multiply<kType>(totals[t][2 * pair + 1], factors[t], b[2], b[3]);
    }
  }
}

/// Grid: blocks of each head of queries or of keys.
template <DType kType, int kDim, bool kOwnsKeys>
__global__ void __launch_bounds__(Sizes<kDim>::kThreads, kOwnsKeys&& kDim == 64 ? 2 : 1)
    gradients_kernel(const __grid_constant__ Walk walk) {
  using Size = Sizes<kDim>;
  using Own = GradientSizes<kDim, kOwnsKeys>;
  constexpr int kTiles = Own::kTiles, kOthers = Own::kOthers;
  extern __shared__ uint4 memory[];
  __shared__ double of_warps[Size::kWarps];
  pdl_wait();
  const Fastmax::Args& args = walk.args;
  const auto own0 = static_cast<uint32_t>(__cvta_generic_to_shared(memory)), own1 = own0 + Own::kOwnBytes;
  const uint32_t others = own1 + Own::kOwnBytes;
  const auto* shared_sums =
      reinterpret_cast<const QuerySums*>(reinterpret_cast<const std::byte*>(memory) + Own::kSumsAt);
  const uint32_t sums_at = own0 + Own::kSumsAt;
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int g = lane / 4, c = lane % 4;
  const auto dim = static_cast<int>(args.problem.head_dim);
  const int64_t heads = args.problem.heads, kv_heads = args.problem.kv_heads, group = group_of(args.problem);
  const int64_t number = blockIdx.x / walk.blocks;  // of all heads of queries, or of keys
  const auto block_number = static_cast<int>(blockIdx.x % walk.blocks);
  const int64_t own_heads = kOwnsKeys ? kv_heads : heads, batch = number / own_heads;
  const int64_t head = number % own_heads, kv_head = kOwnsKeys ? head : head / group;
  const int64_t first_head = kOwnsKeys ? head * group : head;
  // The last queries see most keys, the first keys are seen most.
  const int64_t first =
      static_cast<int64_t>(kOwnsKeys ? block_number : walk.blocks - 1 - block_number) * Own::kOwn;
  const int64_t own_end = kOwnsKeys ? args.keys : args.queries, ahead = args.keys - args.queries;
  const int64_t warp_first = first + warp * 16 * kTiles;

  const Rows keys(args.key, args.key_strides, batch, kv_head),
      values(args.value, args.value_strides, batch, kv_head);
  copy_rows<kDim, Own::kOwn, Size::kThreads>(
      own0, kOwnsKeys ? keys : Rows(args.query, args.query_strides, batch, head), first, own_end, dim);
  copy_rows<kDim, Own::kOwn, Size::kThreads>(
      own1, kOwnsKeys ? values : Rows(walk.d, walk.d_strides, batch, head), first, own_end, dim);
  int64_t begin = 0, end = kOwnsKeys ? args.queries : args.keys;
  if (args.problem.causal) {
    if (kOwnsKeys)
      begin = min(end, max(int64_t{0}, first - ahead) / kOthers * kOthers);
    else
      end = max(int64_t{0}, min(end, first + Own::kOwn + ahead));
  }
  const auto count = static_cast<int>((end - begin + kOthers - 1) / kOthers);
  const int all = kOwnsKeys ? count * static_cast<int>(group) : count;
  const auto bring = [&](int i) {
    if (i < all) {
      const uint32_t to = others + static_cast<uint32_t>(i % 2 * 2 * Own::kOtherBytes);
      const int64_t from = begin + int64_t{i % count} * kOthers;
      if constexpr (kOwnsKeys) {
        const int64_t of = first_head + i / count;
        copy_rows<kDim, kOthers, Size::kThreads>(to, Rows(args.query, args.query_strides, batch, of), from,
                                                 end, dim);
        copy_rows<kDim, kOthers, Size::kThreads>(to + Own::kOtherBytes,
                                                 Rows(walk.d, walk.d_strides, batch, of), from, end, dim);
        const auto own = static_cast<int>(threadIdx.x);
        if (own < kOthers) {
          const bool there = from + own < end;
          const QuerySums* sums = walk.sums + (batch * heads + of) * args.queries;
          copy_8(sums_at + static_cast<uint32_t>((i % 2 * kOthers + own) * sizeof(QuerySums)),
                 there ? sums + from + own : sums, there);
        }
      } else {
        copy_rows<kDim, kOthers, Size::kThreads>(to, keys, from, end, dim);
        copy_rows<kDim, kOthers, Size::kThreads>(to + Own::kOtherBytes, values, from, end, dim);
      }
    }
    end_of_copies();
  };
  bring(0);  // with the own rows
  wait_for_copies<0>();
  __syncthreads();
  uint32_t fragments0[kTiles][Size::kBlocks][4], fragments1[kTiles][Size::kBlocks][4];
  load_own<kTiles, kDim>(fragments0, own0 + static_cast<uint32_t>(warp * 16 * kTiles * Size::kPitch), lane);
  load_own<kTiles, kDim>(fragments1, own1 + static_cast<uint32_t>(warp * 16 * kTiles * Size::kPitch), lane);
  bring(1);

  const float factor = walk.scales.of_query[batch * heads + first_head].factor;
  const float of_key = walk.scales.of_key[batch * kv_heads + kv_head].factor / args.temperature;
  const float a0 = args.a0, a1 = args.a1, a2 = args.problem.p == 2 ? args.a2 : 0.0F;
  QuerySums own_sums[kTiles][2];
  if constexpr (!kOwnsKeys) {
#pragma unroll
    for (int t = 0; t < kTiles; ++t)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int64_t query = warp_first + 16 * t + g + 8 * half;
        own_sums[t][half] =
            query < own_end ? walk.sums[number * args.queries + query] : QuerySums{0.0F, 0.0F};
      }
  }

  float total0[kTiles][kDim / 8][4] = {}, total1[kOwnsKeys ? kTiles : 1][kOwnsKeys ? kDim / 8 : 1][4] = {};
  for (int i = 0; i < all; ++i) {
    wait_for_copies<1>();
    __syncthreads();
    const int64_t first_other = begin + int64_t{i % count} * kOthers;
    const uint32_t tile = others + static_cast<uint32_t>(i % 2 * 2 * Own::kOtherBytes);
    // Each head of queries is multiplied by something of its own.
    const float by =
        of_key * (kOwnsKeys ? walk.scales.of_query[batch * heads + first_head + i / count].factor : factor);
    const float along = kOwnsKeys ? by : 1.0F;  // what is left to multiply w by in sums of several heads
    const float once = a1 * by, twice = a2 * by * by, slope0 = a1 * along, slope1 = 2 * a2 * by * along;
    const bool unseen = args.problem.causal && (kOwnsKeys ? warp_first + 16 * kTiles - 1 > first_other + ahead
                                                          : first_other + kOthers - 1 > warp_first + ahead);
    const bool bounded = unseen || (!kOwnsKeys && first_other + kOthers > args.keys);
#pragma unroll
    for (int step = 0; step < kOthers / 16; ++step) {
      const uint32_t other0 = tile + static_cast<uint32_t>(16 * step * Size::kPitch);
      const uint32_t other1 = other0 + Own::kOtherBytes;
      float scores[kTiles][2][4] = {}, slopes[kTiles][2][4] = {};
      multiply_own<kType, kTiles, kDim>(scores, fragments0, other0, lane);
      multiply_own<kType, kTiles, kDim>(slopes, fragments1, other1, lane);
      QuerySums other_sums[2][2];
      if constexpr (kOwnsKeys) {
#pragma unroll
        for (int n = 0; n < 2; ++n) {
          const float4 two =
              *reinterpret_cast<const float4*>(shared_sums + i % 2 * kOthers + 16 * step + 8 * n + 2 * c);
          other_sums[n][0] = {two.x, two.y};
          other_sums[n][1] = {two.z, two.w};
        }
      }
#pragma unroll
      for (int t = 0; t < kTiles; ++t)
#pragma unroll
        for (int n = 0; n < 2; ++n)
#pragma unroll
          for (int j = 0; j < 4; ++j) {
            const QuerySums& of_query = kOwnsKeys ? other_sums[n][j % 2] : own_sums[t][j / 2];
            const float x = scores[t][n][j];
            float slope = (slopes[t][n][j] - of_query.product) * (of_query.inverse * fmaf(slope1, x, slope0));
            float weight = of_query.inverse * fmaf(fmaf(twice, x, once), x, a0);
            if (bounded) {
              const int64_t own = warp_first + 16 * t + g + j / 2 * 8;
              const int64_t other = first_other + 16 * step + 8 * n + 2 * c + j % 2;
              const int64_t key = kOwnsKeys ? own : other, query = kOwnsKeys ? other : own;
              if (key >= args.keys || (args.problem.causal && key > query + ahead)) slope = weight = 0.0F;
            }
            slopes[t][n][j] = slope;
            if constexpr (kOwnsKeys) scores[t][n][j] = weight;
          }
      uint32_t factors[kTiles][4];
#pragma unroll
      for (int t = 0; t < kTiles; ++t) as_factor<kType>(factors[t], slopes[t][0], slopes[t][1]);
      add_others<kType, kTiles, kDim>(total0, factors, other0, lane);
      if constexpr (kOwnsKeys) {
#pragma unroll
        for (int t = 0; t < kTiles; ++t) as_factor<kType>(factors[t], scores[t][0], scores[t][1]);
        add_others<kType, kTiles, kDim>(total1, factors, other1, lane);
      }
    }
    __syncthreads();  // before the tiles are filled anew
    bring(i + 2);
  }

  const float scale = kOwnsKeys ? 1.0F / walk.share : factor * of_key / walk.share;
  const Scale longest = kOwnsKeys ? walk.scales.of_key[number] : walk.scales.of_query[number];
  double product = 0;
#pragma unroll
  for (int t = 0; t < kTiles; ++t)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int own = warp * 16 * kTiles + 16 * t + g + 8 * half;
      const int64_t row = first + own, base = (number * own_end + row) * dim;
      if (row >= own_end) continue;
      float products = 0.0F;
#pragma unroll
      for (int n = 0; n < kDim / 8; ++n) {
        const int col = 8 * n + 2 * c;
        if (col >= dim) continue;
        const float2 grad = {total0[t][n][2 * half] * scale, total0[t][n][2 * half + 1] * scale};
        if (walk.grad != nullptr)
          *reinterpret_cast<uint32_t*>(static_cast<uint16_t*>(walk.grad) + base + col) =
              pack_halves<kType>(grad.x, grad.y);
        if constexpr (kOwnsKeys)
          if (walk.grad_value != nullptr)
            *reinterpret_cast<uint32_t*>(static_cast<uint16_t*>(walk.grad_value) + base + col) =
                pack_halves<kType>(total1[t][n][2 * half] / walk.share,
                                   total1[t][n][2 * half + 1] / walk.share);
        if (longest.longest < 0) continue;
        const float2 x = two_of<kType>(load_word(own0 + static_cast<uint32_t>(own * Size::kPitch + 2 * col)));
        products = fmaf(grad.x, x.x, fmaf(grad.y, x.y, products));
        if (row == longest.longest) *reinterpret_cast<float2*>(walk.longest.rows + number * dim + col) = grad;
      }
      product += products;
    }
  if (longest.longest < 0) return;
  product = block_reduce(product, 0.0, Plus{}, of_warps);
  if (threadIdx.x == 0) walk.longest.parts[blockIdx.x] = product;
}

/// A block a head: the longest row's gradient, through what all rows were multiplied by.
__global__ void longest_row_kernel(const Walk walk, const void* rows, HeadStrides strides,
                                   const Scale* scales, int64_t heads, int64_t tokens) {
  pdl_wait();
  const int64_t number = blockIdx.x, dim = walk.args.problem.head_dim;
  const Scale scale = scales[number];
  if (scale.longest < 0 || scale.squares == 0) return;
  double all = 0;
  for (int block = 0; block < walk.blocks; ++block) all += walk.longest.parts[number * walk.blocks + block];
  for (int64_t d = threadIdx.x; d < dim; d += blockDim.x) {
    const DType dtype = walk.args.problem.dtype;
    const double x = load_element<float>(
        dtype, rows,
        number / heads * strides.batch + number % heads * strides.head + scale.longest * strides.token + d);
    store_element(dtype, static_cast<float>(walk.longest.rows[number * dim + d] - all / scale.squares * x),
                  walk.grad, (number * tokens + scale.longest) * dim + d);
  }
}

// ---- launches ----

template <class Function>
void with_head_and_type(const Fastmax::Problem& problem, Function&& function) {
  const auto with_type = [&]<int kDim>() {
    if (problem.dtype == DType::f16) return function.template operator()<DType::f16, kDim>();
    function.template operator()<DType::bf16, kDim>();
  };
  const int64_t padded = padded_head(problem.head_dim);
  if (padded == 32) return with_type.template operator()<32>();
  if (padded == 64) return with_type.template operator()<64>();
  with_type.template operator()<128>();
}

template <bool kOwnsKeys>
int blocks_of(const Fastmax::Problem& problem, int64_t tokens) {
  int own = 1;
  with_head_and_type(problem, [&]<DType, int kDim>() { own = GradientSizes<kDim, kOwnsKeys>::kOwn; });
  return static_cast<int>((tokens + own - 1) / own);
}

size_t gradient_shared(const Fastmax::Problem& problem) {
  int needed = 0;
  with_head_and_type(problem, [&]<DType, int kDim>() {
    needed = std::max(GradientSizes<kDim, false>::kShared, GradientSizes<kDim, true>::kShared);
  });
  return static_cast<size_t>(needed);
}

/// Behind what the forward call needs.
struct GradientRoom {
  Room room;
  QuerySums* sums;
  uint16_t* noisy = nullptr;
  LongestRoom of_query, of_key;

  GradientRoom(const Fastmax::Problem& problem, std::byte* memory) : room(memory) {
    room.take<std::byte>(static_cast<int64_t>(forward_workspace(problem)));
    const int64_t query_heads = problem.batch * problem.heads, key_heads = problem.batch * problem.kv_heads;
    sums = room.take<QuerySums>(query_heads * problem.queries);
    if (problem.dropping == Fastmax::Dropping::noise)
      noisy = room.take<uint16_t>(query_heads * problem.queries * problem.head_dim);
    if (!problem.normalise) return;
    of_query.parts = room.take<double>(query_heads * blocks_of<false>(problem, problem.queries));
    of_query.rows = room.take<float>(query_heads * problem.head_dim);
    of_key.parts = room.take<double>(key_heads * blocks_of<true>(problem, problem.keys));
    of_key.rows = room.take<float>(key_heads * problem.head_dim);
  }
};

template <bool kOwnsKeys>
void walk_over(Walk walk, const Launch& launch) {
  const Fastmax::Args& args = walk.args;
  const Fastmax::Problem& problem = args.problem;
  const int64_t own_heads = kOwnsKeys ? problem.kv_heads : problem.heads,
                tokens = kOwnsKeys ? args.keys : args.queries;
  walk.blocks = blocks_of<kOwnsKeys>(problem, tokens);
  with_head_and_type(problem, [&]<DType kType, int kDim>() {
    launch_kernel(launch, gradients_kernel<kType, kDim, kOwnsKeys>,
                  dim3(static_cast<unsigned>(args.batch * own_heads * walk.blocks)),
                  dim3(Sizes<kDim>::kThreads), static_cast<size_t>(GradientSizes<kDim, kOwnsKeys>::kShared),
                  walk);
  });
  if (problem.normalise && walk.grad != nullptr)
    launch_kernel(launch, longest_row_kernel, dim3(static_cast<unsigned>(args.batch * own_heads)), dim3(128),
                  0, walk, kOwnsKeys ? args.key : args.query,
                  kOwnsKeys ? args.key_strides : args.query_strides,
                  kOwnsKeys ? walk.scales.of_key : walk.scales.of_query, own_heads, tokens);
}

}  // namespace

std::string supports_tensor_backward(const FastmaxBackward::Problem& problem, const Machine& machine) {
  if (std::string reason = ref::legal(problem); !reason.empty()) return reason;
  if (std::string reason = without_tensor(problem.forward); !reason.empty()) return reason;
  return without_shared(gradient_shared(problem.forward), machine.card);
}

size_t tensor_backward_workspace(const FastmaxBackward::Problem& problem, const Machine&, int) {
  return GradientRoom(problem.forward, nullptr).room.bytes();
}

void run_tensor_backward(const FastmaxBackward::Args& args, const Launch& launch) {
  const Fastmax::Args& forward = args.forward;
  const Fastmax::Problem& problem = forward.problem;
  require_aligned(lies_in_chunks(args.grad_out, args.grad_out_strides));
  const GradientRoom room(problem, launch.workspace);
  ForGradients gradients;
  gradients.grad_out = args.grad_out;
  gradients.grad_out_strides = args.grad_out_strides;
  gradients.share =
      std::exp2(std::floor(std::log2(static_cast<float>(std::max<int64_t>(forward.keys, 1))) / 2));
  gradients.sums = room.sums;
  gradients.noisy = room.noisy;
  Walk walk;
  walk.args = forward;
  walk.scales = attend_for_gradients(forward, gradients, launch);
  walk.d = room.noisy != nullptr ? room.noisy : args.grad_out;
  walk.d_strides = room.noisy != nullptr ? HeadStrides{problem.heads * forward.queries * problem.head_dim,
                                                       forward.queries * problem.head_dim, problem.head_dim}
                                         : args.grad_out_strides;
  walk.sums = room.sums;
  walk.share = gradients.share;
  if (args.grad_query != nullptr) {
    walk.grad = args.grad_query;
    walk.longest = room.of_query;
    walk_over<false>(walk, launch);
  }
  if (args.grad_key == nullptr && args.grad_value == nullptr) return;
  walk.grad = args.grad_key;
  walk.grad_value = args.grad_value;
  walk.longest = room.of_key;
  walk_over<true>(walk, launch);
}

}  // namespace orrery::kernels::cuda::fastmax
