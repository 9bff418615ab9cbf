// Gradients of Fastmax on tensor cores, operands of f16 or bf16 (fastmax.h), heads of up to 128. With
// x = q . k of rows as they are stored, c what that is multiplied by, d_i = grad_out_i (1 + noise_i) and
// r_i = share / sum_j f(c x_ij):
//   share grad_value_j = sum_i p_ij d_i          p_ij = r_i f(c x_ij)
//   share e_i = sum_j w_ij k_j                   w_ij = r_i f'(c x_ij) (d_i . value_j - d_i . o_i)
//   share h_j = sum_i w_ij q_i
// The forward kernels leave r_i and d_i . o_i of each query (tensor.cu). Then one kernel, in two roles:
//   queries  a block owns 16 kTiles queries a warp, and walks over the keys that they see
//   keys     a block owns keys, and walks over the queries that see them, head after head of its group
// Either way there are two own tiles (query and d, or key and value), whose fragments a warp keeps in
// registers, and two of the others, 64 rows of which lie in shared memory in two stages (cp.async).
//   direct      a warp takes 16 others at a time: scores and d . value are two products, p and w are made of
//               them in registers and are, rounded, factors of the next products as they are.
//   factorised  of bf16 alone: F(x) = sum_t c_t x_t(x) state_t is what values are by moments of the others
//               (tensor_state.cu), and e and h are gradients of w . F(x) by x, w = (d, -d . o) of a query,
//               (value, 1) of a key: for each tile of 16 features their states are multiplied with w, and
//               what comes of that with x_m and x_n. Causal: an own segment is taken directly.
//   Each gradient is added up by one warp in one order: no atomics, the same bits each time.
// share is a power of two near the root of the number of keys: p and w of f16 stay far from both ends of its
// range. Through what rows were multiplied by only the longest row's gradient changes, by the sum over all
// rows of gradient . row: blocks leave their parts of that sum, and the longest row as float32, for a last
// small kernel.
// Bytes moved: own rows once; the others, or a state of bf16, once for each block (from L2).
#include <algorithm>
#include <cmath>

#include "kernels/cuda/device/block_reduce.cuh"
#include "kernels/cuda/device/element.cuh"
#include "kernels/cuda/fastmax/gradient_moments.cuh"

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
  Plan plan;               // of the units of a launch; its moments only where states are asked
  int64_t first_head = 0;  // of what is owned
  int blocks = 1;          // of a head
  LongestRoom longest;
  void* grad = nullptr;        // of query or key
  void* grad_value = nullptr;  // keys
};

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
template <DType kType, int kDim, bool kOwnsKeys, bool kState>
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
  // Of all heads of queries, or of keys.
  const int64_t number = walk.first_head + blockIdx.x / walk.blocks;
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
  int64_t moments = 0;  // that are asked, of all units and slots
  if constexpr (kState) {
    const Slots& slots = walk.plan.slots;
    const int64_t slot = slots.causal ? first / slots.tokens : slots.count - 1;
    moments = (batch * kv_heads + kv_head - walk.plan.first_unit) * slots.count + slot;
    if (kOwnsKeys)
      end = slots.causal ? slots.begin(slot) : begin;
    else
      begin = slots.end(slot);
  }
  const auto count = static_cast<int>(max(int64_t{0}, end - begin + kOthers - 1) / kOthers);
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
  end_of_copies();
  wait_for_copies<0>();
  __syncthreads();  // own rows are there
  uint32_t fragments0[kTiles][Size::kBlocks][4], fragments1[kTiles][Size::kBlocks][4];
  const uint32_t own_rows = own0 + static_cast<uint32_t>(warp * 16 * kTiles * Size::kPitch);
  load_own<kTiles, kDim>(fragments0, own_rows, lane);
  load_own<kTiles, kDim>(fragments1, own_rows + Own::kOwnBytes, lane);

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
  if constexpr (kState) {
    Asking<kDim, kOwnsKeys> asking{fragments0, fragments1, {}, total0, total1, lane};
#pragma unroll
    for (int t = 0; t < kTiles; ++t)
#pragma unroll
      for (int half = 0; half < 2; ++half)
        asking.last[t][half] =
            c == 0 ? pack_halves<kType>(kOwnsKeys ? 1.0F : -own_sums[t][half].product, 0.0F) : 0U;
    const int squares = args.problem.p == 2 ? Size::kSquares : 0;
    const int64_t kept = (state_tiles_of<kDim>(args.problem.p) - 1) * Size::kTileElements;
    ask_moments(asking, squares / kStageTiles, walk.plan.moments.weighed + moments * kept,
                walk.plan.moments.ones + moments * Size::kColumns, kOwnsKeys ? of_key : factor, own_rows,
                others);
    // Of keys the gradient is by key times its factor yet, of queries without inverse.
#pragma unroll
    for (int t = 0; t < kTiles; ++t)
#pragma unroll
      for (int n = 0; n < kDim / 8; ++n)
#pragma unroll
        for (int j = 0; j < 4; ++j) total0[t][n][j] *= kOwnsKeys ? of_key : own_sums[t][j / 2].inverse;
  }
  bring(0);
  bring(1);
  for (int i = 0; i < all; ++i) {
    wait_for_copies<1>();
    __syncthreads();
    const int64_t first_other = begin + int64_t{i % count} * kOthers;
    const uint32_t tile = others + static_cast<uint32_t>(i % 2 * 2 * Own::kOtherBytes);
    // Each head of queries is multiplied by something of its own.
    const float by =
        of_key * (kOwnsKeys ? walk.scales.of_query[batch * heads + first_head + i / count].factor : factor);
    const float along = kOwnsKeys ? by : of_key;  // what others are multiplied by
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

  const float scale = kOwnsKeys ? 1.0F / walk.share : factor / walk.share;
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
  if (threadIdx.x == 0) walk.longest.parts[number * walk.blocks + block_number] = product;
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
  QuerySums* sums;
  uint16_t* noisy = nullptr;
  LongestRoom of_query, of_key;

  GradientRoom(const Fastmax::Problem& problem, Room& room) {
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

struct DirectRoom {
  Room room;
  GradientRoom gradients;

  static Room behind_forward(const Fastmax::Problem& problem, std::byte* memory) {
    Room room(memory);
    room.take<std::byte>(static_cast<int64_t>(forward_workspace(problem)));
    return room;
  }
  DirectRoom(const Fastmax::Problem& problem, std::byte* memory)
      : room(behind_forward(problem, memory)), gradients(problem, room) {}
};

/// Moments of keys and those of queries are never needed together.
struct FactorisedGradientRoom {
  Room room;
  ScaleRoom scales;
  GradientRoom gradients;
  uint16_t* brought;
  Room of_queries;
  StateRoom key_states, query_states;

  FactorisedGradientRoom(const Fastmax::Problem& problem, std::byte* memory)
      : room(memory),
        scales(problem, room),
        gradients(problem, room),
        brought(room.take<uint16_t>(problem.batch * problem.heads * problem.queries * problem.head_dim)),
        of_queries(room),
        key_states(States(problem, false), room),
        query_states(States(problem, true), of_queries) {}
  size_t bytes() const { return std::max(room.bytes(), of_queries.bytes()); }
};

/// Empty where states cost less than scores: three passes over the features of each token, two to ask and one
/// to make them, and seven products of each pair.
std::string without_gradient_states(const Fastmax::Problem& problem) {
  if (problem.dtype != DType::bf16) return "query is f16, whose range states and products of elements leave";
  const States states(problem, false);
  const auto keys = static_cast<double>(problem.keys), queries = static_cast<double>(problem.queries);
  const auto dim = static_cast<double>(padded_head(problem.head_dim));
  const double group = static_cast<double>(group_of(problem));
  const double direct = 7 * dim * queries * keys * (problem.causal ? 0.5 : 1.0);
  const double own = problem.causal ? 9 * dim * queries * static_cast<double>(states.tokens) / 2 : 0.0;
  const double of_states = 3 * static_cast<double>(states.cost()) * (queries + keys / group);
  if (of_states + own < direct) return {};
  return "states of " + std::to_string(states.tiles * 16) + " features cost more than " +
         std::to_string(problem.keys) + " keys do";
}

HeadStrides strides_without_gaps(const Fastmax::Args& args) {
  const int64_t head = args.queries * args.problem.head_dim;
  return {args.problem.heads * head, head, args.problem.head_dim};
}

/// What a call leaves and walks over.
struct BackwardCall {
  const FastmaxBackward::Args& args;
  ForGradients forward;
  Walk walk;

  BackwardCall(const FastmaxBackward::Args& of, const GradientRoom& room) : args(of) {
    require_aligned(lies_in_chunks(of.grad_out, of.grad_out_strides));
    forward.grad_out = of.grad_out;
    forward.grad_out_strides = of.grad_out_strides;
    const auto keys = static_cast<float>(std::max<int64_t>(of.forward.keys, 1));
    forward.share = std::exp2(std::floor(std::log2(keys) / 2));
    forward.sums = room.sums;
    forward.noisy = room.noisy;
    walk.args = of.forward;
    walk.d = room.noisy != nullptr ? room.noisy : of.grad_out;
    walk.d_strides = room.noisy != nullptr ? strides_without_gaps(of.forward) : of.grad_out_strides;
    walk.sums = room.sums;
    walk.share = forward.share;
  }
};

/// Units [first, first + units).
template <bool kOwnsKeys, bool kState>
void walk_over(const BackwardCall& call, const GradientRoom& room, const Plan& plan, const Launch& launch) {
  Walk walk = call.walk;
  const Fastmax::Problem& problem = walk.args.problem;
  walk.plan = plan;
  walk.blocks = blocks_of<kOwnsKeys>(problem, kOwnsKeys ? walk.args.keys : walk.args.queries);
  const int64_t each = kOwnsKeys ? 1 : group_of(problem);
  walk.first_head = plan.first_unit * each;
  walk.grad = kOwnsKeys ? call.args.grad_key : call.args.grad_query;
  walk.grad_value = kOwnsKeys ? call.args.grad_value : nullptr;
  walk.longest = kOwnsKeys ? room.of_key : room.of_query;
  if (walk.grad == nullptr && walk.grad_value == nullptr) return;
  with_head_and_type(problem, [&]<DType kType, int kDim>() {
    if constexpr (kType == DType::bf16 || !kState)
      launch_kernel(launch, gradients_kernel<kType, kDim, kOwnsKeys, kState>,
                    dim3(static_cast<unsigned>(plan.units * each * walk.blocks)), dim3(Sizes<kDim>::kThreads),
                    static_cast<size_t>(GradientSizes<kDim, kOwnsKeys>::kShared), walk);
  });
}

/// When all units are done.
template <bool kOwnsKeys>
void correct_longest(const BackwardCall& call, const GradientRoom& room, const Launch& launch) {
  Walk walk = call.walk;
  const Fastmax::Args& args = walk.args;
  walk.grad = kOwnsKeys ? call.args.grad_key : call.args.grad_query;
  if (!args.problem.normalise || walk.grad == nullptr) return;
  const int64_t heads = kOwnsKeys ? args.problem.kv_heads : args.problem.heads;
  const int64_t tokens = kOwnsKeys ? args.keys : args.queries;
  walk.blocks = blocks_of<kOwnsKeys>(args.problem, tokens);
  walk.longest = kOwnsKeys ? room.of_key : room.of_query;
  launch_kernel(launch, longest_row_kernel, dim3(static_cast<unsigned>(args.batch * heads)), dim3(128), 0,
                walk, kOwnsKeys ? args.key : args.query, kOwnsKeys ? args.key_strides : args.query_strides,
                kOwnsKeys ? walk.scales.of_key : walk.scales.of_query, heads, tokens);
}

}  // namespace

std::string supports_direct_backward(const FastmaxBackward::Problem& problem, const Machine& machine) {
  if (std::string reason = ref::legal(problem); !reason.empty()) return reason;
  if (std::string reason = without_tensor(problem.forward); !reason.empty()) return reason;
  return without_shared(gradient_shared(problem.forward), machine.card);
}

size_t direct_backward_workspace(const FastmaxBackward::Problem& problem, const Machine&, int) {
  return DirectRoom(problem.forward, nullptr).room.bytes();
}

void run_direct_backward(const FastmaxBackward::Args& args, const Launch& launch) {
  const Fastmax::Args& forward = args.forward;
  const GradientRoom room = DirectRoom(forward.problem, launch.workspace).gradients;
  BackwardCall call(args, room);
  call.walk.scales = attend_for_gradients(forward, call.forward, launch);
  Plan all{};
  all.units = forward.batch * forward.problem.kv_heads;
  walk_over<false, false>(call, room, all, launch);
  walk_over<true, false>(call, room, all, launch);
  correct_longest<false>(call, room, launch);
  correct_longest<true>(call, room, launch);
}

std::string supports_factorised_backward(const FastmaxBackward::Problem& problem, const Machine& machine) {
  if (std::string reason = supports_direct_backward(problem, machine); !reason.empty()) return reason;
  return without_gradient_states(problem.forward);
}

size_t factorised_backward_workspace(const FastmaxBackward::Problem& problem, const Machine&, int) {
  return FactorisedGradientRoom(problem.forward, nullptr).bytes();
}

void run_factorised_backward(const FastmaxBackward::Args& args, const Launch& launch) {
  const Fastmax::Args& forward = args.forward;
  const Fastmax::Problem& problem = forward.problem;
  const FactorisedGradientRoom room(problem, launch.workspace);
  BackwardCall call(args, room.gradients);
  call.forward.brought = room.brought;
  const Scales& scales = room.scales.scales;
  call.walk.scales = scales;
  find_scales(forward, room.scales, false, launch);
  const States of_keys(problem, false), of_queries(problem, true);
  const Producers keys = keys_of(forward, scales);
  const Producers queries{.rows = forward.query,
                          .brought = room.brought,
                          .row_strides = forward.query_strides,
                          .brought_strides = strides_without_gaps(forward),
                          .sums = room.gradients.sums,
                          .heads = problem.heads,
                          .scales = scales.of_query};
  const int64_t units = forward.batch * problem.kv_heads,
                at_once = std::min(of_keys.at_once, of_queries.at_once);
  for (int64_t first = 0; first < units; first += at_once) {
    Plan plan{};
    plan.first_unit = first;
    plan.units = std::min(at_once, units - first);
    plan.slots = slots_of_keys(forward, of_keys);
    plan.moments = make_moments(forward, keys, plan.slots, first, plan.units, room.key_states, launch);
    attend_by_moments(forward, scales, plan, &call.forward, launch);
    walk_over<false, true>(call, room.gradients, plan, launch);
    plan.slots = {of_queries.slots, of_queries.tokens, forward.keys - forward.queries,
                  forward.queries,  problem.causal,    true};
    plan.moments = make_moments(forward, queries, plan.slots, first, plan.units, room.query_states, launch);
    walk_over<true, true>(call, room.gradients, plan, launch);
  }
  correct_longest<false>(call, room.gradients, launch);
  correct_longest<true>(call, room.gradients, launch);
}

}  // namespace orrery::kernels::cuda::fastmax
