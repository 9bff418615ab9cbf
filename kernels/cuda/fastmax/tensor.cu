// Fastmax on tensor cores, operands of f16 or bf16 (fastmax.h), heads of up to 128.
//   direct      a block of 8 warps owns 256 (heads above 64: 128) queries of one head, a warp 16 or 32 of
//               them. Keys and values come 64 at a time by cp.async, two such tiles in shared memory. Scores
//               become weights in registers, in two FMAs and without a maximum or an exponential, are rounded
//               to their type and multiplied with the values and a column of ones, whose sum is the
//               denominator of just those rounded weights. Those of f16 are kept in its range by a power of
//               two for each query.
//   factorised  of bf16 alone: moments of the keys (tensor_state.cu) come 8 tiles of 16 features at a time
//               into shared memory. The block makes x_t(query) in registers, as the product of fragments of
//               its queries with one element of each, and multiplies them with that. Squares are summed
//               first, then elements, then ones, so that the query's factor is multiplied to the sums in
//               between and not to each feature. Causal: a query's own segment is taken directly.
//   Where gradients want it, the same kernels leave denominators and d . o in place of out (gradients.cu).
//   Every sum has one order, whatever runs beside it: the same bits each time.
// Bytes moved: direct: keys and values once for each block (from L2). Factorised: a state of bf16 once for
// each block of queries (from L2).
#include <algorithm>

#include "kernels/cuda/fastmax/noise.cuh"
#include "kernels/cuda/fastmax/tensor_sums.cuh"

namespace orrery::kernels::cuda::fastmax {
namespace {

/// Whether a query sees a key, and where it lies among all.
struct QueryPlace {
  bool there, sees;
  int64_t row;

  __device__ QueryPlace(const Fastmax::Args& args, int64_t batch, int64_t head, int64_t query)
      : there(query < args.queries),
        sees(args.keys > 0 && (!args.problem.causal || query + args.keys - args.queries >= 0)),
        row((batch * args.problem.heads + head) * args.queries + query) {}
};

template <DType kType, int kDim>
__device__ void write_out(const Accumulators<kDim>& sums, const Fastmax::Args& args, int64_t batch,
                          int64_t head, int64_t first_query, int lane) {
  using Size = Sizes<kDim>;
  const HeadStrides& strides = args.out_strides;
  const int64_t base = batch * strides.batch + head * strides.head;
  const int c = lane % 4;
  auto* out = static_cast<uint16_t*>(args.out);
#pragma unroll
  for (int t = 0; t < Size::kTiles; ++t)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int64_t query = first_query + 16 * t + lane / 4 + 8 * half;
      const float total = __shfl_sync(~0U, sums.total[t][Size::kAcross - 1][2 * half], lane & ~3);
      const QueryPlace place(args, batch, head, query);
      if (!place.there) continue;
#pragma unroll
      for (int n = 0; n < Size::kAcross - 1; ++n) {
        const int col = 8 * n + 2 * c;
        if (col >= args.problem.head_dim) continue;
        const auto result = [&](int i) {
          return place.sees ? sums.total[t][n][2 * half + i] / total * noise_of(args, place.row, col + i)
                            : 0.0F;
        };
        *reinterpret_cast<uint32_t*>(out + base + query * strides.token + col) =
            pack_halves<kType>(result(0), result(1));
      }
    }
}

/// In place of out what its gradients go on from.
template <DType kType, int kDim>
__device__ void write_sums(const Accumulators<kDim>& sums, const Polynomials<kType, kDim>& polynomials,
                           const Fastmax::Args& args, const ForGradients& to, int64_t batch, int64_t head,
                           int64_t first_query, int lane) {
  using Size = Sizes<kDim>;
  const HeadStrides& strides = to.grad_out_strides;
  const auto* grad_out =
      static_cast<const uint16_t*>(to.grad_out) + batch * strides.batch + head * strides.head;
  const auto dim = static_cast<int>(args.problem.head_dim);
#pragma unroll
  for (int t = 0; t < Size::kTiles; ++t)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int64_t query = first_query + 16 * t + lane / 4 + 8 * half;
      const float total = __shfl_sync(~0U, sums.total[t][Size::kAcross - 1][2 * half], lane & ~3);
      const QueryPlace place(args, batch, head, query);
      float product = 0.0F;
#pragma unroll
      for (int n = 0; n < Size::kAcross - 1; ++n) {
        const int col = 8 * n + 2 * (lane % 4);
        if (!place.there || col >= dim) continue;
        float2 d = two_of<kType>(*reinterpret_cast<const uint32_t*>(grad_out + query * strides.token + col));
        if (to.noisy != nullptr) {
          const uint32_t rounded = pack_halves<kType>(d.x * noise_of(args, place.row, col),
                                                      d.y * noise_of(args, place.row, col + 1));
          *reinterpret_cast<uint32_t*>(to.noisy + place.row * dim + col) = rounded;
          d = two_of<kType>(rounded);
        }
        product = fmaf(d.x, sums.total[t][n][2 * half], product);
        product = fmaf(d.y, sums.total[t][n][2 * half + 1], product);
      }
      product += __shfl_xor_sync(~0U, product, 1);
      product += __shfl_xor_sync(~0U, product, 2);
      const float inverse = place.sees ? to.share * polynomials.at(t, half).shrunk / total : 0.0F;
      if (to.brought != nullptr && place.there) {
        const uint16_t* d =
            to.noisy != nullptr ? to.noisy + place.row * dim : grad_out + query * strides.token;
#pragma unroll
        for (int n = 0; n < Size::kAcross - 1; ++n) {
          const int col = 8 * n + 2 * (lane % 4);
          if (col >= dim) continue;
          const float2 two = two_of<kType>(*reinterpret_cast<const uint32_t*>(d + col));
          *reinterpret_cast<uint32_t*>(to.brought + place.row * dim + col) =
              pack_halves<kType>(inverse * two.x, inverse * two.y);
        }
      }
      if (!place.there || lane % 4 != 0) continue;
      to.sums[place.row] = {inverse, place.sees ? product / total : 0.0F};
    }
}

/// Grid: (blocks of queries, query heads of the plan's units).
template <DType kType, int kDim, bool kState, bool kGradients>
__global__ void __launch_bounds__(Sizes<kDim>::kThreads, 1)
    attend_kernel(const Fastmax::Args args, const Scales scales, const Plan plan,
                  const ForGradients gradients) {
  using Size = Sizes<kDim>;
  constexpr int kKeys = Size::kKeys, kTileBytes = Block<kDim>::kTileBytes;
  extern __shared__ uint4 memory[];
  pdl_wait();
  const auto queries = static_cast<uint32_t>(__cvta_generic_to_shared(memory));
  const uint32_t buffer = queries + Block<kDim>::kQueryBytes;
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const auto dim = static_cast<int>(args.problem.head_dim);
  const int64_t group = group_of(args.problem), unit = blockIdx.y / group, number = plan.first_unit + unit;
  const int64_t batch = number / args.problem.kv_heads, kv_head = number % args.problem.kv_heads;
  const int64_t head = kv_head * group + blockIdx.y % group;
  const int64_t first = static_cast<int64_t>(gridDim.x - 1 - blockIdx.x) * Size::kQueries;  // long ones first
  const int64_t own = first + warp * 16 * Size::kTiles;

  copy_rows<kDim, Size::kQueries, Size::kThreads>(queries, Rows(args.query, args.query_strides, batch, head),
                                                  first, args.queries, dim);
  end_of_copies();
  wait_for_copies<0>();
  __syncthreads();
  Accumulators<kDim> sums;
#pragma unroll
  for (int t = 0; t < Size::kTiles; ++t)
#pragma unroll
    for (int block = 0; block < Size::kBlocks; ++block)
      load_matrices(
          sums.query[t][block],
          queries + static_cast<uint32_t>((warp * 16 * Size::kTiles + 16 * t + lane % 16) * Size::kPitch +
                                          32 * block + lane / 16 * 16));

  const float of_query = scales.of_query[batch * args.problem.heads + head].factor;
  const float of_key = scales.of_key[number].factor / args.temperature;
  const Polynomials<kType, kDim> polynomials(args, of_query * of_key, sums, scales.of_key[number].squares);
  int64_t begin = 0, end = args.keys;
  if constexpr (kState) {
    const Slots& slots = plan.slots;
    const int64_t slot = slots.causal ? first / slots.tokens : slots.count - 1;
    const int64_t kept = (state_tiles_of<kDim>(args.problem.p) - 1) * Size::kTileElements;
    const int64_t at = unit * slots.count + slot;
    add_state(sums, args, plan.moments.weighed + at * kept, plan.moments.ones + at * Size::kColumns, of_query,
              queries, buffer);
    begin = slots.end(slot);
  }
  if (args.problem.causal) end = min(end, first + Size::kQueries + args.keys - args.queries);
  const auto count = static_cast<int>(max(int64_t{0}, end - begin + kKeys - 1) / kKeys);
  const Rows keys(args.key, args.key_strides, batch, kv_head),
      values(args.value, args.value_strides, batch, kv_head);
  const auto bring = [&](int i) {
    if (i < count) {
      const uint32_t to = buffer + static_cast<uint32_t>(i % 2 * 2 * kTileBytes);
      copy_rows<kDim, kKeys, Size::kThreads>(to, keys, begin + int64_t{i} * kKeys, args.keys, dim);
      copy_rows<kDim, kKeys, Size::kThreads>(to + kTileBytes, values, begin + int64_t{i} * kKeys, args.keys,
                                             dim);
    }
    end_of_copies();
  };
  bring(0);
  bring(1);
  for (int i = 0; i < count; ++i) {
    wait_for_copies<1>();
    __syncthreads();
    const int64_t first_key = begin + int64_t{i} * kKeys;
    // Keys of the tile that some query of this warp does not see, or that are not there.
    const int64_t seen_by_all = args.problem.causal ? own + args.keys - args.queries : args.keys;
    const bool bounded = first_key + kKeys > args.keys || first_key + kKeys - 1 > seen_by_all;
    const uint32_t tile = buffer + static_cast<uint32_t>(i % 2 * 2 * kTileBytes);
    add_keys(sums, args, polynomials, own, first_key, bounded, tile, tile + kTileBytes, lane);
    __syncthreads();  // before the tiles are filled anew
    bring(i + 2);
  }
  if constexpr (kGradients)
    write_sums(sums, polynomials, args, gradients, batch, head, own, lane);
  else
    write_out<kType>(sums, args, batch, head, own, lane);
}

// ---- launches ----

template <class Function>
void with_head(int64_t dim, Function&& function) {
  const int64_t padded = padded_head(dim);
  if (padded == 32) return function.template operator()<32>();
  if (padded == 64) return function.template operator()<64>();
  function.template operator()<128>();
}

/// gradients: null: out is written, else what they need of this call.
template <DType kType, int kDim, bool kState>
void attend(const Fastmax::Args& args, const Scales& scales, const Plan& plan, const ForGradients* gradients,
            const Launch& launch) {
  const int64_t blocks = (args.queries + Sizes<kDim>::kQueries - 1) / Sizes<kDim>::kQueries;
  const auto kernel = gradients != nullptr ? attend_kernel<kType, kDim, kState, true>
                                           : attend_kernel<kType, kDim, kState, false>;
  launch_kernel(
      launch, kernel,
      dim3(static_cast<unsigned>(blocks), static_cast<unsigned>(plan.units * group_of(args.problem))),
      dim3(Sizes<kDim>::kThreads), Block<kDim>::kShared, args, scales, plan,
      gradients != nullptr ? *gradients : ForGradients{});
}

/// Empty where states are made, and for less than what scores cost.
std::string without_states(const Fastmax::Problem& problem) {
  if (problem.dtype != DType::bf16) return "query is f16, whose range states and products of elements leave";
  // Products of 16 x 8 x 16 of both forms, for a query head.
  const States states(problem, false);
  const auto dim = static_cast<double>(padded_head(problem.head_dim));
  const auto keys = static_cast<double>(problem.keys), queries = static_cast<double>(problem.queries);
  const double direct = queries * keys * (problem.causal ? 0.5 : 1.0) * (2 * dim + 8);
  const double own = problem.causal ? queries * static_cast<double>(states.tokens) / 2 * (2 * dim + 8) : 0.0;
  const double of_states =
      static_cast<double>(states.cost()) * (queries + keys / static_cast<double>(group_of(problem)));
  if (of_states + own < direct) return {};
  return "states of " + std::to_string(states.tiles * 16) + " features cost more than " +
         std::to_string(problem.keys) + " keys do";
}

size_t block_shared(int64_t head_dim) {
  size_t needed = 0;
  with_head(head_dim, [&]<int kDim>() { needed = Block<kDim>::kShared; });
  return needed;
}

void require_aligned(const Fastmax::Args& args) {
  cuda::require_aligned(
      lies_in_chunks(args.query, args.query_strides) && lies_in_chunks(args.key, args.key_strides) &&
      lies_in_chunks(args.value, args.value_strides) && lies_in_chunks(args.out, args.out_strides));
}

size_t direct_room(const Fastmax::Problem& problem) {
  Room room(nullptr);
  const ScaleRoom scales(problem, room);
  return room.bytes();
}

/// Scales lie at the beginning of the workspace in both forms.
void attend_directly(const Fastmax::Args& args, const ForGradients* gradients, const Launch& launch) {
  require_aligned(args);
  Room room(launch.workspace);
  const ScaleRoom scales(args.problem, room);
  find_scales(args, scales, args.problem.dtype == DType::f16, launch);
  const int64_t units = args.batch * args.problem.kv_heads;
  const int64_t at_once = std::max<int64_t>(1, 65535 / group_of(args.problem));
  for (int64_t first = 0; first < units; first += at_once) {
    Plan plan{};
    plan.first_unit = first;
    plan.units = std::min(at_once, units - first);
    with_head(args.problem.head_dim, [&]<int kDim>() {
      const auto attend_so = args.problem.dtype == DType::f16 ? attend<DType::f16, kDim, false>
                                                              : attend<DType::bf16, kDim, false>;
      attend_so(args, scales.scales, plan, gradients, launch);
    });
  }
}

/// Scales, then states.
struct FactorisedRoom {
  Room room;
  ScaleRoom scales;
  StateRoom states;

  FactorisedRoom(const Fastmax::Problem& problem, std::byte* memory)
      : room(memory), scales(problem, room), states(States(problem, false), room) {}
};

void attend_by_states(const Fastmax::Args& args, const ForGradients* gradients, const Launch& launch) {
  require_aligned(args);
  const FactorisedRoom room(args.problem, launch.workspace);
  const States states(args.problem, false);
  find_scales(args, room.scales, false, launch);
  Plan plan{};
  plan.slots = slots_of_keys(args, states);
  const int64_t units = args.batch * args.problem.kv_heads;
  for (plan.first_unit = 0; plan.first_unit < units; plan.first_unit += states.at_once) {
    plan.units = std::min(states.at_once, units - plan.first_unit);
    plan.moments = make_moments(args, keys_of(args, room.scales.scales), plan.slots, plan.first_unit,
                                plan.units, room.states, launch);
    attend_by_moments(args, room.scales.scales, plan, gradients, launch);
  }
}

}  // namespace

std::string without_tensor(const Fastmax::Problem& problem) {
  if (problem.dtype != DType::bf16 && problem.dtype != DType::f16)
    return "query is " + std::string(name_of(problem.dtype)) + "; it multiplies f16 and bf16";
  if (problem.head_dim > 128)
    return "head_dim is " + std::to_string(problem.head_dim) + "; it takes up to 128";
  if (problem.head_dim % 8 != 0 || !problem.aligned) return "rows do not begin at multiples of 16 bytes";
  if (problem.has_rpe) return "keys have positions added, which it does not do";
  if (problem.dropping == Fastmax::Dropping::features) return "features are dropped, which it does not do";
  return {};
}

bool lies_in_chunks(const void* base, const HeadStrides& strides) {
  return is_aligned(base) && strides.batch % 8 == 0 && strides.head % 8 == 0 && strides.token % 8 == 0;
}

std::string supports_direct(const Fastmax::Problem& problem, const Machine& machine) {
  if (std::string reason = ref::legal(problem); !reason.empty()) return reason;
  if (std::string reason = without_tensor(problem); !reason.empty()) return reason;
  return without_shared(block_shared(problem.head_dim), machine.card);
}

size_t direct_workspace(const Fastmax::Problem& problem, const Machine&, int) { return direct_room(problem); }

void run_direct(const Fastmax::Args& args, const Launch& launch) { attend_directly(args, nullptr, launch); }

std::string supports_factorised(const Fastmax::Problem& problem, const Machine& machine) {
  if (std::string reason = supports_direct(problem, machine); !reason.empty()) return reason;
  return without_states(problem);
}

size_t factorised_workspace(const Fastmax::Problem& problem, const Machine&, int) {
  return FactorisedRoom(problem, nullptr).room.bytes();
}

void run_factorised(const Fastmax::Args& args, const Launch& launch) {
  attend_by_states(args, nullptr, launch);
}

void attend_by_moments(const Fastmax::Args& args, const Scales& scales, const Plan& plan,
                       const ForGradients* gradients, const Launch& launch) {
  with_head(args.problem.head_dim,
            [&]<int kDim>() { attend<DType::bf16, kDim, true>(args, scales, plan, gradients, launch); });
}

size_t forward_workspace(const Fastmax::Problem& problem) {
  return without_states(problem).empty() ? FactorisedRoom(problem, nullptr).room.bytes()
                                         : direct_room(problem);
}

Scales attend_for_gradients(const Fastmax::Args& args, const ForGradients& gradients, const Launch& launch) {
  if (without_states(args.problem).empty())
    attend_by_states(args, &gradients, launch);
  else
    attend_directly(args, &gradients, launch);
  Room room(launch.workspace);
  return ScaleRoom(args.problem, room).scales;
}

}  // namespace orrery::kernels::cuda::fastmax
