// Sampling of one token per output row, log-probabilities and top lists (sample.h is the contract).
//   logits (outputs, vocabulary) f32, f16, bf16      requests, choices, ids (outputs), or tensors of a batch
// "cuda.top": a cluster of 8, 4, 2 or 1 blocks of 512 threads owns an output row, as many as leave each block
// of a cluster a multiprocessor and its registers; rows of one block go side by side, two to a
// multiprocessor. "cuda.top_by_block": always one. How many does not show in a choice.
//   One pass over the logits finds the best token of each piece of the row and the sum of its softmax
//   (sample_select.cuh), and with penalties or a bias a second one the best of the changed logits. The first
//   block then ranks, draws and writes the choice, whole and once.
//   top-k up to 1,024: the best k are gathered from the few pieces that can have them and sorted; the rest of
//   the draw happens on them.
//   else: the nucleus and the draw are places in the running mass of the whole row, found by bins of mass.
// Mass is fixed point in 64 bits from float32 weights: a draw can differ from float64's where the uniform is
// within about 1e-7 of the border between two tokens.
// Bytes moved: an element a logit, and about an eighth of that again from L2 for top-k; each search by mass
// some three to six times. Shared memory: some 90 KiB a block of pieces, bins and sorted tokens.
#include <algorithm>

#include "kernels/cuda/sample_select.cuh"

namespace orrery::kernels::cuda {
namespace {

constexpr uint64_t kMaxPrefix = kSort / 2;
constexpr int64_t kMostClusters = 4096;  // of a grid

/// The mass to reach for a nucleus of `mass`.
__device__ uint64_t nucleus_target(const SamplingParams& params, uint64_t mass) {
  const double target = ceil(static_cast<double>(params.top_p) * static_cast<double>(mass));
  return target < 1.0 ? 1 : min(static_cast<uint64_t>(target), mass);
}

/// The mass to reach for the draw: the first token whose running sum exceeds uniform * mass.
__device__ uint64_t draw_target(const Sample::Request& request, uint64_t mass) {
  const double uniform = draw_uniform(request.params.seed, request.position);
  return min(static_cast<uint64_t>(uniform * static_cast<double>(mass)), mass - 1) + 1;
}

/// Of the first block: draws among the `count` sorted tokens, for the first thread.
template <int kBlocks>
__device__ int32_t draw_sorted(const Sample::Request& request, const Softmax& softmax, int count,
                               SampleShared<kBlocks>& shared) {
  const SamplingParams& params = request.params;
  const int owners = owners_of(count);
  if (static_cast<int>(threadIdx.x) >= owners) return -1;
  sum_sorted(count, softmax, shared);
  int kept = count;
  if (params.top_p < 1.0F)
    kept = reach(nucleus_target(params, shared.all_mass[count - 1]), count, owners, shared) + 1;
  if (params.min_p > 0) {  // weights fall along the tokens: the first token below ends them
    if (threadIdx.x == 0) shared.found = kept;
    owners_meet(owners);
    for (int i = static_cast<int>(threadIdx.x); i < kept; i += owners)
      if (i > 0 && softmax.weight(key_in(shared.codes[i])) < params.min_p) atomicMin(&shared.found, i);
    owners_meet(owners);
    kept = shared.found;
    owners_meet(owners);
  }
  return id_in(shared.codes[reach(draw_target(request, shared.all_mass[kept - 1]), kept, owners, shared)]);
}

/// Draws among the best `limit` tokens of the whole row.
template <int kBlocks, class T>
__device__ int32_t draw_by_mass(const Sample::Request& request, const LogitRow<kBlocks, T>& row,
                                const Survey& all, const Softmax& softmax, uint64_t limit,
                                SampleShared<kBlocks>& shared) {
  const SamplingParams& params = request.params;
  uint64_t mass = limit < all.count ? cross(row, all, softmax, {true, limit}, shared).mass
                                    : mass_from(row, softmax, -1.0F, shared);
  if (params.top_p < 1.0F)
    mass = cross(row, all, softmax, {false, nucleus_target(params, mass)}, shared).mass;
  if (params.min_p > 0) {
    mass = min(mass, mass_from(row, softmax, params.min_p, shared));
    mass = max(mass, softmax.one());  // the best token stays
  }
  return id_in(cross(row, all, softmax, {false, draw_target(request, mass)}, shared).code);
}

/// The id is right in the first block.
template <int kBlocks, class T>
__device__ int32_t draw(const Sample::Request& request, const LogitRow<kBlocks, T>& row, const Survey& all,
                        SampleShared<kBlocks>& shared) {
  if (all.count == 0) return -1;
  const SamplingParams& params = request.params;
  const float largest = logit_of(key_in(all.best));
  if (!(params.temperature > 0) || largest == FLT_MAX) return id_in(all.best);
  const Softmax softmax{largest, fminf(1.0F / params.temperature, FLT_MAX), fixed_unit(row.cut.vocabulary)};
  const uint64_t count = all.count;
  const uint64_t limit = params.top_k > 0 ? min(static_cast<uint64_t>(params.top_k), count) : count;
  if (limit > kMaxPrefix) return draw_by_mass(request, row, all, softmax, limit, shared);
  rank_prefix(row, all, limit, shared);
  return cluster_rank<kBlocks>() == 0 ? draw_sorted(request, softmax, static_cast<int>(limit), shared) : -1;
}

/// The most probable tokens into shared.choice of the first block.
template <int kBlocks, class T>
__device__ void list_top(int32_t wanted, const LogitRow<kBlocks, T>& row, const Survey& all, double log_sum,
                         SampleShared<kBlocks>& shared) {
  const auto count =
      static_cast<int>(min(static_cast<uint32_t>(max(0, min(wanted, Sample::kMaxTop))), all.count));
  if (count > 0) rank_prefix(row, all, static_cast<uint64_t>(count), shared);
  if (cluster_rank<kBlocks>() != 0) return;
  if (threadIdx.x == 0) shared.choice.top_count = count;
  if (static_cast<int>(threadIdx.x) < count) {
    const uint64_t code = shared.codes[threadIdx.x];
    shared.choice.top_ids[threadIdx.x] = id_in(code);
    shared.choice.top_logprobs[threadIdx.x] = static_cast<float>(logit_of(key_in(code)) - log_sum);
  }
}

/// An empty choice.
template <int kBlocks>
__device__ void clear_choice(SampleShared<kBlocks>& shared) {
  if (threadIdx.x < Sample::kMaxTop) {
    shared.choice.top_ids[threadIdx.x] = 0;
    shared.choice.top_logprobs[threadIdx.x] = 0.0F;
  }
  if (threadIdx.x != 0) return;
  shared.choice.id = -1;
  shared.choice.logprob = -INFINITY;
  shared.choice.top_count = 0;
}

/// The bits of the recent ids, where penalties change their logits.
template <int kBlocks>
__device__ void mark_recent(const Sample::Request& request, int vocabulary, SampleShared<kBlocks>& shared) {
  for (int i = static_cast<int>(threadIdx.x); i < kMarkWords; i += kSampleThreads) shared.marks[i] = 0;
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < request.recent_count; i += kSampleThreads)
    if (const int id = request.recent[i]; id >= 0 && id < vocabulary)
      atomicOr(&shared.marks[id / 32 % kMarkWords], 1U << (id % 32));
  __syncthreads();
}

/// Whether the call has a place for log-probabilities.
__device__ bool wants_logprobs(const Sample::Args& args) {
  return args.choices != nullptr || args.batch.logprobs != nullptr || args.batch.top_logprobs != nullptr;
}

/// Without `logprobs`, those of the choice are not right.
template <int kBlocks, class T>
__device__ void choose(const Sample::Request& request, bool logprobs, LogitRow<kBlocks, T>& row,
                       SampleShared<kBlocks>& shared) {
  Survey all = survey<false>(row, logprobs, shared);
  if (!all.finite || request.target >= row.cut.vocabulary) return;

  const double log_sum = logprobs && cluster_rank<kBlocks>() == 0
                             ? log_of_sum(row.cut, logit_of(key_in(all.best)), shared)
                             : 0.0;  // which the first block alone uses
  list_top(request.top, row, all, log_sum, shared);
  int32_t id = request.target;
  if (id < 0) {
    const bool is_penalised = penalises(request);
    if (is_penalised || request.bias != nullptr) {
      if (is_penalised) mark_recent(request, row.cut.vocabulary, shared);
      row.marks = is_penalised ? shared.marks : nullptr;
      row.changes = true;
      cluster_sync<kBlocks>();  // the first block has read the sums and bests of the others
      all = survey<true>(row, false, shared);
    }
    id = draw(request, row, all, shared);
  }
  if (cluster_rank<kBlocks>() != 0 || threadIdx.x != 0 || id < 0) return;
  shared.choice.id = id;
  shared.choice.logprob = static_cast<float>(clean_logit(row.widened(row.logits[id])) - log_sum);
}

/// Of the first block: an output's choice to where the call wants it (put_choice).
template <int kBlocks>
__device__ void write_choice(const Sample::Args& args, int64_t output, const SampleShared<kBlocks>& shared) {
  constexpr int kWords = sizeof(Sample::Choice) / sizeof(uint32_t);
  static_assert(sizeof(Sample::Choice) % sizeof(uint32_t) == 0 && kWords <= kSampleThreads);
  __syncthreads();
  const Sample::Choice& choice = shared.choice;
  const auto i = static_cast<int>(threadIdx.x);
  if (args.choices != nullptr && i < kWords)
    reinterpret_cast<uint32_t*>(args.choices + output)[i] = reinterpret_cast<const uint32_t*>(&choice)[i];
  if (args.ids != nullptr && i == 0) args.ids[output] = choice.id;
  const Sample::Batch& batch = args.batch;
  if (batch.tokens != nullptr && i == 0) batch.tokens[output] = choice.id;
  if (batch.logprobs != nullptr && i == 0) batch.logprobs[output] = choice.logprob;
  if (i >= batch.each.top) return;
  const int64_t to = output * batch.each.top + i;
  const bool there = i < choice.top_count;
  if (batch.top_tokens != nullptr) batch.top_tokens[to] = there ? choice.top_ids[i] : -1;
  if (batch.top_logprobs != nullptr) batch.top_logprobs[to] = there ? choice.top_logprobs[i] : -INFINITY;
}

template <int kBlocks, class T>
__device__ void sample_all(const Sample::Args& args, const Cut& cut) {
  extern __shared__ __align__(16) unsigned char bytes[];
  auto& shared = *reinterpret_cast<SampleShared<kBlocks>*>(bytes);
  pdl_wait();
  const int64_t clusters = gridDim.x / kBlocks;
  const int rank = cluster_rank<kBlocks>();
  const int first = min(rank * cut.in_block, cut.pieces);
  for (int64_t output = blockIdx.x / kBlocks; output < args.outputs; output += clusters) {
    if (threadIdx.x == 0) {
      shared.request = request_of(args, output);
      shared.gathered[0] = 0;
    }
    clear_choice(shared);
    __syncthreads();
    const T* logits = static_cast<const T*>(args.logits) + output * args.vocabulary;
    LogitRow<kBlocks, T> row{logits,
                             cut,
                             first,
                             min(cut.in_block, cut.pieces - first),
                             reinterpret_cast<uintptr_t>(logits) % 16 == 0,
                             args.dtype,
                             &shared.request,
                             nullptr,
                             false};
    choose(shared.request, wants_logprobs(args), row, shared);
    if (rank == 0) write_choice(args, output, shared);
    cluster_sync<kBlocks>();  // no block goes, or goes on, while another reads its shared memory
  }
}

template <int kBlocks, class T>
__global__ void __launch_bounds__(kSampleThreads, kAlone<kBlocks> ? 1 : 2)
    sample_kernel(const Sample::Args args, const Cut cut) {
  if constexpr (kBlocks == 1 || kHopper) sample_all<kBlocks, T>(args, cut);
}

template <int kBlocks, class T>
void start(const Sample::Args& args, const Launch& launch) {
  const int64_t clusters = std::clamp<int64_t>(args.outputs, 0, kMostClusters);
  launch_clusters(launch, sample_kernel<kBlocks, T>, kBlocks > 1 ? kBlocks : 0,
                  dim3(static_cast<unsigned>(clusters * kBlocks)), dim3(kSampleThreads),
                  sizeof(SampleShared<kBlocks>), args, cut_of(args.vocabulary, kBlocks));
}

template <class Function>
void with_logits(DType dtype, Function&& function) {
  if (dtype == DType::f32) return function(float{});
  function(uint16_t{});
}

void run_clusters(const Sample::Args& args, const Launch& launch) {
  const int64_t multiprocessors = current_card().multiprocessors;
  with_logits(args.dtype, [&](auto logit) {
    using T = decltype(logit);
    // A cluster lies within one of a few parts of the card, so that not all multiprocessors are filled by
    // large ones.
    if (args.outputs * 16 <= multiprocessors) return start<8, T>(args, launch);
    if (args.outputs * 5 <= multiprocessors) return start<4, T>(args, launch);
    if (args.outputs * 2 <= multiprocessors) return start<2, T>(args, launch);
    start<1, T>(args, launch);
  });
}

void run_blocks(const Sample::Args& args, const Launch& launch) {
  with_logits(args.dtype, [&](auto logit) { start<1, decltype(logit)>(args, launch); });
}

std::string supports_block(const Sample::Problem& problem, const Machine& machine) {
  if (problem.chains) return "it draws by temperature, top-k, top-p, min-p and penalties only";
  if (std::string reason = ref::legal(problem); !reason.empty()) return reason;
  return without_shared(sizeof(SampleShared<1>), machine.card);
}

std::string supports_cluster(const Sample::Problem& problem, const Machine& machine) {
  std::string reason = supports_block(problem, machine);
  return reason.empty() ? without_clusters(machine.card) : reason;
}

}  // namespace

std::span<const Row<Sample>> sample_rows() {
  static const Row<Sample> rows[] = {
      {.name = "cuda.top", .device = DeviceKind::cuda, .supports = supports_cluster, .run = run_clusters},
      {.name = "cuda.top_by_block",
       .device = DeviceKind::cuda,
       .supports = supports_block,
       .run = run_blocks},
  };
  return rows;
}

}  // namespace orrery::kernels::cuda
