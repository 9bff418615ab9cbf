// Fastmax and its gradients in float32 by states (fastmax.h): any type, any head up to 256, rpe, dropped
// features.
//   Producers y become states, and consumers x read them; both as in float_tiles.cuh, queries from keys, and
//   backward keys from queries. mask(x)_t is 0 or 1 / (1 - rate) where features are dropped, else 1.
//     S_t      sum over y of mask(y)_t x_t(y) u
//     values   sum over t of c_t mask(x)_t x_t(x) S_t
//     slopes   the gradient of values . w by x, with U_t = c_t mask(x)_t (S_t . w) of x_t = x_m x_n:
//              x_n U_t to element m, x_m U_t to element n
//   Features are made kTile at a time (float_features.cuh).
//     states_kernel    block (tile of features, segment of producers, head)
//     values_kernel, slopes_kernel    block (kTile consumers, head), all features in their order
//   Causal: states are added up over the segments, so that each is that of all producers up to the end of its
//   segment (queries: from its beginning on). Consumers start from the state of producers that all of them
//   see, and take the producers after those by scores, which are products of features too.
//   As many heads are taken at a time as their states have room. Every sum has one order: the same bits each
//   time, without atomics.
// Bytes moved: states once for each kTile consumers, producers once for each tile of features (from L2).
#include "kernels/cuda/fastmax/float_features.cuh"

namespace orrery::kernels::cuda::fastmax {
namespace {

/// The buffers of a block, as many as its kernel has: rows of kDim + 1, and tiles of kTile rows of kTile + 1.
template <int kDim>
struct Buffers {
  static constexpr int kRowFloats = kTile<kDim> * (kDim + 1), kTilePitch = kTile<kDim> + 1,
                       kTileFloats = kTile<kDim> * kTilePitch;
  static constexpr size_t kOfStates = sizeof(float) * (2 * kRowFloats + kTileFloats),
                          kOfValues = kOfStates + sizeof(float) * kTileFloats,
                          kOfSlopes = kOfValues + sizeof(float) * 2 * kRowFloats;
  float *x, *rows, *features, *others, *w, *slopes;

  __device__ explicit Buffers(float* memory)
      : x(memory),
        rows(x + kRowFloats),
        features(rows + kRowFloats),
        others(features + kTileFloats),
        w(others + kTileFloats),
        slopes(w + kRowFloats) {}
};

template <int kDim>
__device__ float* state_of(const FeaturePlan& plan, float* states, int64_t unit, int64_t segments,
                           int64_t segment) {
  return states + (unit * segments + segment) * plan.state;
}

template <int kDim, bool kKeys>
__global__ void __launch_bounds__(kSide* kSide)
    states_kernel(const Call call, const FeaturePlan plan, const Dropout dropout, int64_t first_unit,
                  float* states) {
  extern __shared__ float memory[];
  __shared__ Feature table[kTile<kDim>];
  pdl_wait();
  constexpr int kEach = Sums<kDim>::kEach, kColumns = Sums<kDim>::kColumns, kRows = kTile<kDim>;
  const Fastmax::Problem& problem = call.args.problem;
  const Buffers<kDim> buffers(memory);
  const int64_t unit = first_unit + blockIdx.z, kv_head = unit % problem.kv_heads;
  const FeatureTile<kDim> tile(call, plan, static_cast<int>(blockIdx.x), table);
  const int64_t group = kKeys ? 1 : group_of(problem);
  Sums<kDim> sums;
  for (int64_t member = 0; member < group; ++member) {
    const Tokens<kKeys> tokens(call, unit / problem.kv_heads, kv_head * group + member);
    const int64_t begin = blockIdx.y * plan.segment, end = min(begin + plan.segment, tokens.count);
    for (int64_t from = begin; from < end; from += kRows) {
      __syncthreads();  // all are done with what is overwritten
      load_rows<kDim>(tokens, from, buffers.x);
      load_brought<kDim>(tokens, from, buffers.rows);
      __syncthreads();
      make_features<kDim, false>(tokens, tile, dropout, from, buffers.x, buffers.features);
      __syncthreads();
      add_rows<1, Buffers<kDim>::kTilePitch>(buffers.features, buffers.rows, sums);
    }
  }
  float* to = state_of<kDim>(plan, states, blockIdx.z, gridDim.y, blockIdx.y) +
              static_cast<int64_t>(blockIdx.x) * Buffers<kDim>::kRowFloats;
#pragma unroll
  for (int r = 0; r < kEach; ++r) {
    float* row = to + (threadIdx.y + kSide * r) * (kDim + 1);
#pragma unroll
    for (int c = 0; c < kColumns; ++c) row[threadIdx.x + kSide * c] = sums.values[r][c];
    if (threadIdx.x == 0) row[kDim] = sums.totals[r];
  }
}

constexpr int kJoinThreads = 256;

/// A thread an element: the state of each segment becomes that of all up to it, or (kBehind) from it on.
template <bool kBehind>
__global__ void __launch_bounds__(kJoinThreads)
    join_kernel(float* states, int64_t state, int64_t segments, int64_t elements) {
  pdl_wait();
  const int64_t i = blockIdx.x * static_cast<int64_t>(kJoinThreads) + threadIdx.x;
  if (i >= elements) return;
  float* of_first = states + i / state * segments * state + i % state;
  float sum = 0;
  for (int64_t s = 0; s < segments; ++s) {
    float& of_segment = of_first[(kBehind ? segments - 1 - s : s) * state];
    of_segment = sum += of_segment;
  }
}

/// What a block's consumers read: a state, -1 for none, and the producers [begin, end).
struct Way {
  int64_t state, begin, end;

  template <int kDim, bool kOfKeys>
  static __device__ Way of(const Fastmax::Args& args, const FeaturePlan& plan, int64_t first) {
    constexpr int kRows = kTile<kDim>;
    const Seen<kOfKeys> seen(args);
    const int64_t segments = plan.segments_of(seen.producers);
    Way way;
    if constexpr (kOfKeys) {
      // Queries that all of these keys are seen by.
      const int64_t from = seen.causal ? max(int64_t{0}, first + kRows - 1 - seen.ahead) : 0;
      const int64_t segment = plan.segments_of(from);
      way.state = segment < segments ? segment : -1;
      way.begin = seen.begin(first, kRows);
      way.end = min(segment * plan.segment, seen.producers);
    } else {
      const int64_t to = seen.causal ? max(int64_t{0}, first + 1 + seen.ahead) : seen.producers;
      const int64_t whole = to >= seen.producers ? segments : to / plan.segment;
      way.state = whole - 1;
      way.begin = whole * plan.segment;
      way.end = seen.end(first, kRows);
    }
    return way;
  }
};

/// Consumers of a block: which head they are of, and where their producers' heads begin.
template <bool kOfKeys>
struct Place {
  int64_t batch, kv_head, group, head;

  __device__ Place(const Fastmax::Problem& problem, int64_t first_unit, int64_t block)
      : group(group_of(problem)) {
    const int64_t unit = first_unit + (kOfKeys ? block : block / group);
    batch = unit / problem.kv_heads;
    kv_head = unit % problem.kv_heads;
    head = kOfKeys ? kv_head : kv_head * group + block % group;
  }
  /// Number of the state among those of the kernel.
  __device__ int64_t state(int64_t block) const { return kOfKeys ? block : block / group; }
  /// visit(producers) of each head of them.
  template <class Visit>
  __device__ void each_head(const Call& call, const Visit& visit) const {
    if constexpr (kOfKeys)
      for (int64_t member = 0; member < group; ++member)
        visit(Tokens<false>(call, batch, kv_head * group + member));
    else
      visit(Tokens<true>(call, batch, kv_head));
  }
};

/// The scores of some rows with kTile producers, whose rows are in buffers.rows.
template <int kDim, bool kOfKeys>
__device__ void make_scores(const Call& call, const FeaturePlan& plan, const Dropout& dropout,
                            const Tokens<kOfKeys>& consumers, int64_t first,
                            const Tokens<!kOfKeys>& producers, int64_t from, const Buffers<kDim>& buffers,
                            Feature* table, float (&scores)[Sums<kDim>::kEach][Sums<kDim>::kEach]) {
  for (int t = 0; t < plan.tiles; ++t) {
    __syncthreads();  // rows are there, and all are done with the tiles
    const FeatureTile<kDim> tile(call, plan, t, table);
    __syncthreads();
    make_features<kDim, true>(consumers, tile, dropout, first, buffers.x, buffers.features);
    make_features<kDim, false>(producers, tile, dropout, from, buffers.rows, buffers.others);
    __syncthreads();
    multiply_rows<Buffers<kDim>::kTilePitch, kTile<kDim>>(buffers.features, buffers.others, scores);
  }
}

/// What is seen of kTile x kTile products becomes a tile.
template <int kDim, bool kOfKeys>
__device__ void store_seen(const Seen<kOfKeys>& seen, int64_t first, int64_t from,
                           const float (&products)[Sums<kDim>::kEach][Sums<kDim>::kEach], float* tile) {
  constexpr int kEach = Sums<kDim>::kEach;
#pragma unroll
  for (int r = 0; r < kEach; ++r)
#pragma unroll
    for (int c = 0; c < kEach; ++c) {
      const int x = static_cast<int>(threadIdx.y) + kSide * r, y = static_cast<int>(threadIdx.x) + kSide * c;
      tile[x * Buffers<kDim>::kTilePitch + y] = seen(first + x, from + y) ? products[r][c] : 0.0F;
    }
}

template <int kDim>
__device__ void load_state(const float* state, int tile, float* to) {
  const float* from = state + static_cast<int64_t>(tile) * Buffers<kDim>::kRowFloats;
  for (int i = thread_number(); i < Buffers<kDim>::kRowFloats; i += kSide * kSide) to[i] = from[i];
}

template <int kDim, bool kOfKeys, bool kBackward>
__global__ void __launch_bounds__(kSide* kSide)
    values_kernel(const Call call, const FeaturePlan plan, const Dropout dropout, int64_t first_unit,
                  float* states) {
  extern __shared__ float memory[];
  __shared__ Feature table[kTile<kDim>];
  pdl_wait();
  constexpr int kEach = Sums<kDim>::kEach, kRows = kTile<kDim>;
  const Fastmax::Args& args = call.args;
  const Buffers<kDim> buffers(memory);
  const Place<kOfKeys> place(args.problem, first_unit, blockIdx.y);
  const Tokens<kOfKeys> consumers(call, place.batch, place.head);
  const Seen<kOfKeys> seen(args);
  const int64_t first = static_cast<int64_t>(blockIdx.x) * kRows;
  const Way way = Way::of<kDim, kOfKeys>(args, plan, first);
  load_rows<kDim>(consumers, first, buffers.x);
  Sums<kDim> sums;
  if (way.state >= 0) {
    const float* state =
        state_of<kDim>(plan, states, place.state(blockIdx.y), plan.segments_of(seen.producers), way.state);
    for (int t = 0; t < plan.tiles; ++t) {
      __syncthreads();  // all are done with what is overwritten
      const FeatureTile<kDim> tile(call, plan, t, table);
      load_state<kDim>(state, t, buffers.rows);
      __syncthreads();
      make_features<kDim, true>(consumers, tile, dropout, first, buffers.x, buffers.features);
      __syncthreads();
      add_rows<Buffers<kDim>::kTilePitch, 1>(buffers.features, buffers.rows, sums);
    }
  }
  place.each_head(call, [&](const Tokens<!kOfKeys>& producers) {
    for (int64_t from = way.begin; from < way.end; from += kRows) {
      __syncthreads();
      load_rows<kDim>(producers, from, buffers.rows);
      float scores[kEach][kEach] = {};
      make_scores<kDim, kOfKeys>(call, plan, dropout, consumers, first, producers, from, buffers, table,
                                 scores);
      __syncthreads();
      store_seen<kDim>(seen, first, from, scores, buffers.features);
      load_brought<kDim>(producers, from, buffers.rows);
      __syncthreads();
      add_rows<Buffers<kDim>::kTilePitch, 1>(buffers.features, buffers.rows, sums);
    }
  });
  if constexpr (kOfKeys) {
    const int64_t dim = args.problem.head_dim;
    each_result<kDim>(first, args.keys, dim, [&](int64_t x, int r, int64_t d, int c) {
      store_element(args.problem.dtype, sums.values[r][c], call.grad_value,
                    (consumers.number() * args.keys + x) * dim + d);
    });
  } else {
    const QueryResults<kDim> results(consumers, first, sums);
    if constexpr (!kBackward) {
      results.store();
    } else {
      __syncthreads();  // all are done with the rows
      results.store_brought(buffers.rows);
    }
  }
}

/// sums[r][c] += a[ty + 16 r][y] b[y][tx + 16 c] over the rows of a tile.
template <int kDim>
__device__ void multiply_tiles(const float* a, const float* b,
                               float (&sums)[Sums<kDim>::kEach][Sums<kDim>::kEach]) {
  constexpr int kEach = Sums<kDim>::kEach, kPitch = Buffers<kDim>::kTilePitch;
  for (int y = 0; y < kTile<kDim>; ++y) {
    float right[kEach];
#pragma unroll
    for (int c = 0; c < kEach; ++c) right[c] = b[y * kPitch + threadIdx.x + kSide * c];
#pragma unroll
    for (int r = 0; r < kEach; ++r) {
      const float left = a[(threadIdx.y + kSide * r) * kPitch + y];
#pragma unroll
      for (int c = 0; c < kEach; ++c) sums[r][c] = fmaf(left, right[c], sums[r][c]);
    }
  }
}

/// What features' gradients bring the elements: some threads share a row, of which each owns every so many
/// elements, so that none is added to by two.
template <int kDim>
__device__ void add_slopes(const Feature* features, const float* gradients, const float* rows,
                           float* slopes) {
  constexpr int kShare = kSide * kSide / kTile<kDim>;
  const int row = thread_number() / kShare, part = thread_number() % kShare;
  const float *x = rows + row * (kDim + 1), *of_features = gradients + row * Buffers<kDim>::kTilePitch;
  float* to = slopes + row * (kDim + 1);
  for (int i = 0; i < kTile<kDim>; ++i) {
    const Feature feature = features[i];
    if (feature.m < 0) continue;
    const float gradient = of_features[i];
    if (feature.m < kDim && feature.m % kShare == part) to[feature.m] += gradient * x[feature.n];
    if (feature.n < kDim && feature.n % kShare == part) to[feature.n] += gradient * x[feature.m];
  }
}

template <int kDim, bool kOfKeys>
__global__ void __launch_bounds__(kSide* kSide)
    slopes_kernel(const Call call, const FeaturePlan plan, const Dropout dropout, int64_t first_unit,
                  float* states) {
  extern __shared__ float memory[];
  __shared__ Feature table[kTile<kDim>];
  pdl_wait();
  constexpr int kEach = Sums<kDim>::kEach, kRows = kTile<kDim>, kPitch = Buffers<kDim>::kTilePitch;
  const Fastmax::Args& args = call.args;
  const Buffers<kDim> buffers(memory);
  const Place<kOfKeys> place(args.problem, first_unit, blockIdx.y);
  const Tokens<kOfKeys> consumers(call, place.batch, place.head);
  const Seen<kOfKeys> seen(args);
  const int64_t first = static_cast<int64_t>(blockIdx.x) * kRows;
  const Way way = Way::of<kDim, kOfKeys>(args, plan, first);
  load_rows<kDim>(consumers, first, buffers.x);
  load_brought<kDim>(consumers, first, buffers.w);
  for (int i = thread_number(); i < Buffers<kDim>::kRowFloats; i += kSide * kSide) buffers.slopes[i] = 0.0F;
  for (int t = 0; t < plan.tiles; ++t) {
    __syncthreads();  // all are done with what is overwritten
    const FeatureTile<kDim> tile(call, plan, t, table);
    float gradients[kEach][kEach] = {};  // of features tx + 16 c of consumers ty + 16 r
    if (way.state >= 0) {
      load_state<kDim>(
          state_of<kDim>(plan, states, place.state(blockIdx.y), plan.segments_of(seen.producers), way.state),
          t, buffers.rows);
      __syncthreads();
      multiply_rows<kDim + 1, kDim + 1>(buffers.w, buffers.rows, gradients);
    }
    place.each_head(call, [&](const Tokens<!kOfKeys>& producers) {
      for (int64_t from = way.begin; from < way.end; from += kRows) {
        __syncthreads();
        load_brought<kDim>(producers, from, buffers.rows);
        __syncthreads();
        float of_scores[kEach][kEach] = {};
        multiply_rows<kDim + 1, kDim + 1>(buffers.w, buffers.rows, of_scores);
        __syncthreads();
        store_seen<kDim>(seen, first, from, of_scores, buffers.others);
        load_rows<kDim>(producers, from, buffers.rows);
        __syncthreads();
        make_features<kDim, false>(producers, tile, dropout, from, buffers.rows, buffers.features);
        __syncthreads();
        multiply_tiles<kDim>(buffers.others, buffers.features, gradients);
      }
    });
    __syncthreads();
#pragma unroll
    for (int r = 0; r < kEach; ++r)
#pragma unroll
      for (int c = 0; c < kEach; ++c)
        buffers.features[(threadIdx.y + kSide * r) * kPitch + threadIdx.x + kSide * c] = gradients[r][c];
    __syncthreads();
    fill_tile<kDim>(consumers, tile, dropout, first, buffers.features,
                    [&](int row, int i, const Feature& feature) {
                      return buffers.features[row * kPitch + i] * feature.factor;
                    });
    __syncthreads();
    add_slopes<kDim>(table, buffers.features, buffers.x, buffers.slopes);
  }
  __syncthreads();
  const auto dim = static_cast<int>(args.problem.head_dim);
  float* to = kOfKeys ? call.of_key : call.of_query;
  for (int i = thread_number(); i < kRows * dim; i += kSide * kSide) {
    const int row = i / dim, d = i % dim;
    if (first + row < consumers.count)
      to[(consumers.number() * consumers.count + first + row) * dim + d] =
          buffers.slopes[row * (kDim + 1) + d];
  }
}

// ---- launches ----

/// One call of either direction.
template <int kDim>
class Run {
 public:
  Run(const Call& call, const FeaturePlan& plan, float* states, const Launch& launch)
      : call_(call), plan_(plan), states_(states), launch_(launch) {
    if (call.args.problem.dropping == Fastmax::Dropping::features)
      dropout_ = Dropout(call.args.rate, call.args.seed);
  }

  void forward() {
    each_heads([&] {
      add_up<true>();
      consume<false>(values_kernel<kDim, false, false>, Buffers<kDim>::kOfValues);
    });
  }
  void backward(const FastmaxBackward::Args& wanted) {
    each_heads([&] {
      add_up<true>();
      consume<false>(values_kernel<kDim, false, true>, Buffers<kDim>::kOfValues);
      if (wanted.grad_query != nullptr) consume<false>(slopes_kernel<kDim, false>, Buffers<kDim>::kOfSlopes);
      if (wanted.grad_key == nullptr && wanted.grad_value == nullptr && wanted.grad_rpe == nullptr) return;
      add_up<false>();
      if (wanted.grad_value != nullptr)
        consume<true>(values_kernel<kDim, true, true>, Buffers<kDim>::kOfValues);
      if (wanted.grad_key != nullptr || wanted.grad_rpe != nullptr)
        consume<true>(slopes_kernel<kDim, true>, Buffers<kDim>::kOfSlopes);
    });
  }

 private:
  template <class Function>
  void each_heads(const Function& function) {
    const int64_t heads = call_.args.batch * call_.args.problem.kv_heads;
    for (first_ = 0; first_ < heads; first_ += units_) {
      units_ = std::min(plan_.units, heads - first_);
      function();
    }
  }
  /// States of keys, or of queries.
  template <bool kKeys>
  void add_up() {
    const int64_t segments = plan_.segments_of(kKeys ? call_.args.keys : call_.args.queries);
    if (segments == 0) return;
    launch_kernel(launch_, states_kernel<kDim, kKeys>,
                  dim3(static_cast<unsigned>(plan_.tiles), static_cast<unsigned>(segments),
                       static_cast<unsigned>(units_)),
                  dim3(kSide, kSide), Buffers<kDim>::kOfStates, call_, plan_, dropout_, first_, states_);
    const int64_t elements = units_ * plan_.state;
    if (segments > 1)
      launch_kernel(launch_, join_kernel<!kKeys>,
                    dim3(static_cast<unsigned>((elements + kJoinThreads - 1) / kJoinThreads)),
                    dim3(kJoinThreads), 0, states_, plan_.state, segments, elements);
  }
  template <bool kKeys, class Kernel>
  void consume(const Kernel& kernel, size_t shared) {
    const int64_t tokens = kKeys ? call_.args.keys : call_.args.queries;
    if (tokens == 0) return;
    const int64_t heads = kKeys ? units_ : units_ * group_of(call_.args.problem);
    launch_kernel(launch_, kernel, grid_of<kDim>(tokens, heads), dim3(kSide, kSide), shared, call_, plan_,
                  dropout_, first_, states_);
  }

  Call call_;
  FeaturePlan plan_;
  float* states_;
  const Launch& launch_;
  Dropout dropout_;
  int64_t first_ = 0, units_ = 0;
};

struct FactorisedRoom {
  Room room;
  ScaleRoom scales;
  FeaturePlan plan;
  float* states = nullptr;

  FactorisedRoom(const Fastmax::Problem& problem, std::byte* memory) : room(memory), scales(problem, room) {
    with_dim(problem.head_dim, [&]<int kDim>() { plan = plan_of<kDim>(problem); });
    states =
        room.take<float>(plan.units * plan.state * plan.segments_of(std::max(problem.queries, problem.keys)));
  }
};

struct FactorisedGradientRoom : FactorisedRoom {
  GradientSums sums;

  FactorisedGradientRoom(const Fastmax::Problem& problem, std::byte* memory)
      : FactorisedRoom(problem, memory), sums(problem, room) {}
};

/// Products of a head: by states, and score by score.
bool pays(const Fastmax::Problem& problem) {
  FeaturePlan plan;
  with_dim(problem.head_dim, [&]<int kDim>() { plan = plan_of<kDim>(problem); });
  const auto queries = static_cast<double>(problem.queries), keys = static_cast<double>(problem.keys);
  const auto dim = static_cast<double>(problem.head_dim), state = static_cast<double>(plan.state);
  const double between = problem.causal ? queries * static_cast<double>(plan.segment) / 2 * state / dim : 0;
  const double pairs = queries * keys * (problem.causal ? 0.5 : 1.0);
  return (queries + keys) * state + between < pairs * (2 * dim + 1);
}

std::string supports(const Fastmax::Problem& problem, const Machine& machine, bool backward) {
  std::string reason = ref::legal(problem);
  if (!reason.empty()) return reason;
  size_t needed = 0;
  with_dim(problem.head_dim,
           [&]<int kDim>() { needed = backward ? Buffers<kDim>::kOfSlopes : Buffers<kDim>::kOfValues; });
  if (needed + 1024 > machine.card.shared_per_block)
    return "a block needs " + std::to_string(needed / 1024 + 1) + " KB of shared memory; the card has " +
           std::to_string(machine.card.shared_per_block / 1024);
  if (problem.dropping != Fastmax::Dropping::features && !pays(problem))
    return "score by score takes fewer products";
  return {};
}

}  // namespace

std::string supports_general_factorised(const Fastmax::Problem& problem, const Machine& machine) {
  return supports(problem, machine, false);
}

size_t general_factorised_workspace(const Fastmax::Problem& problem, const Machine&, int) {
  return FactorisedRoom(problem, nullptr).room.bytes();
}

void run_general_factorised(const Fastmax::Args& args, const Launch& launch) {
  const FactorisedRoom room(args.problem, launch.workspace);
  find_scales(args, room.scales, false, launch);
  Call call;
  call.args = args;
  call.scales = room.scales.scales;
  with_dim(args.problem.head_dim,
           [&]<int kDim>() { Run<kDim>(call, room.plan, room.states, launch).forward(); });
}

std::string supports_general_factorised_backward(const FastmaxBackward::Problem& problem,
                                                 const Machine& machine) {
  return supports(problem.forward, machine, true);
}

size_t general_factorised_backward_workspace(const FastmaxBackward::Problem& problem, const Machine&, int) {
  return FactorisedGradientRoom(problem.forward, nullptr).room.bytes();
}

void run_general_factorised_backward(const FastmaxBackward::Args& args, const Launch& launch) {
  const FactorisedGradientRoom room(args.forward.problem, launch.workspace);
  find_scales(args.forward, room.scales, false, launch);
  const Call call = gradient_call(args, room.scales.scales, room.sums);
  with_dim(args.forward.problem.head_dim,
           [&]<int kDim>() { Run<kDim>(call, room.plan, room.states, launch).backward(args); });
  store_gradients(args, room.scales.scales, room.sums.of_query, room.sums.of_key, launch);
}

}  // namespace orrery::kernels::cuda::fastmax
