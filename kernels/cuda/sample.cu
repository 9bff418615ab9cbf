// Sampling of one token per output row, log-probabilities and top lists (sample.h is the contract).
//   logits (outputs, vocabulary) f32      requests, choices, ids (outputs); recent ids where requests say
// A cluster of 8 blocks of 512 threads owns an output row; block r reads the logits of ids [r, r + 1) *
// ceil(vocabulary / 8) once, into keys in its shared memory ("cuda.top") or, for vocabularies too large for
// that, in the workspace ("cuda.top_in_memory", 16 rows at a time). Where there are no clusters one block
// owns the row, its keys in the workspace ("cuda.top_by_block"). Penalties change the keys of the recent ids
// in place. The first block ranks, draws and writes the choice, whole and once. Which way does not show in a
// choice.
//   top-k up to 1,024: the best k are selected and sorted, the rest of the draw happens on them.
//   else: the nucleus and the draw are places in the running mass of the whole row, found by bins of mass.
// Mass is fixed point in 64 bits from float32 weights: a draw can differ from float64's where the uniform is
// within about 1e-7 of the border between two tokens.
// Bytes moved: 4 a logit. Shared memory: 4 bytes a key and 64 KiB of bins and sorted tokens.
#include <algorithm>

#include "kernels/cuda/launch.h"
#include "kernels/cuda/sample_select.cuh"
#include "kernels/sample.h"

namespace orrery::kernels::cuda {
namespace {

constexpr int64_t kRowsInMemory = 16;
constexpr uint64_t kMaxPrefix = kSort / 2;

/// Fills the slice from the logits; the survey's count has the number of finite logits in its upper half.
template <int kBlocks>
__device__ Survey load(const float* logits, const Slice& slice, SampleShared<kBlocks>& shared) {
  constexpr int kBatch = 8;  // loads in flight
  Survey mine{~uint64_t{0}, 0, 0};
  for (int begin = static_cast<int>(threadIdx.x); begin < slice.size; begin += kBatch * kSampleThreads) {
    float batch[kBatch];
#pragma unroll
    for (int k = 0; k < kBatch; ++k) {
      const int i = begin + k * kSampleThreads;
      batch[k] = i < slice.size ? logits[slice.first + i] : -INFINITY;
    }
#pragma unroll
    for (int k = 0; k < kBatch; ++k) {
      const int i = begin + k * kSampleThreads;
      const uint32_t key = key_of(clean_logit(batch[k]));
      if (i < slice.size) slice.keys[i] = key;
      if (key == 0) continue;
      const uint64_t code = code_of(key, slice.first + i);
      mine.best = Smaller64{}(mine.best, code);
      mine.worst = Larger64{}(mine.worst, code);
      mine.count += 1 + (isfinite(batch[k]) ? uint64_t{1} << 32 : 0);
    }
  }
  return cluster_survey(mine, shared);
}

__device__ bool penalises(const Sample::Request& request) {
  const float penalty = request.params.repeat_penalty;
  return penalty > 0 && isfinite(penalty) && penalty != 1.0F && request.recent_count > 0;
}

/// From the untouched logits, so an id may be listed twice.
__device__ void penalise(const Sample::Request& request, const float* logits, const Slice& slice) {
  const float penalty = request.params.repeat_penalty;
  for (int i = static_cast<int>(threadIdx.x); i < request.recent_count; i += kSampleThreads) {
    const int64_t place = request.recent[i] - slice.first;
    if (place < 0 || place >= slice.size) continue;
    const float logit = clean_logit(logits[slice.first + place]);
    if (logit == -INFINITY) continue;
    const float less = logit > 0 ? logit / penalty : logit * penalty;
    slice.keys[place] = key_of(fminf(fmaxf(less, -FLT_MAX), FLT_MAX) + 0.0F);
  }
  __syncthreads();
}

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

/// Of the first block: draws among the `count` sorted tokens.
template <int kBlocks>
__device__ int32_t draw_sorted(const Sample::Request& request, const Softmax& softmax, int count,
                               SampleShared<kBlocks>& shared) {
  const SamplingParams& params = request.params;
  sum_sorted(count, softmax, shared);
  int kept = count;
  if (params.top_p < 1.0F)
    kept = reach(nucleus_target(params, shared.all_mass[count - 1]), count, shared) + 1;
  if (params.min_p > 0) {  // weights fall along the tokens: the first token below ends them
    if (threadIdx.x == 0) shared.found = kept;
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x); i < kept; i += kSampleThreads)
      if (i > 0 && softmax.weight(key_in(shared.codes[i])) < params.min_p) atomicMin(&shared.found, i);
    __syncthreads();
    kept = shared.found;
    __syncthreads();
  }
  return id_in(shared.codes[reach(draw_target(request, shared.all_mass[kept - 1]), kept, shared)]);
}

/// Draws among the best `limit` tokens of the whole row.
template <int kBlocks>
__device__ int32_t draw_by_mass(const Sample::Request& request, const Slice& slice, const Survey& all,
                                const Softmax& softmax, uint64_t limit, SampleShared<kBlocks>& shared) {
  const SamplingParams& params = request.params;
  uint64_t mass = limit < all.count ? cross(slice, all, softmax, {true, limit}, shared).mass
                                    : mass_from(slice, softmax, -1.0F, shared);
  if (params.top_p < 1.0F)
    mass = cross(slice, all, softmax, {false, nucleus_target(params, mass)}, shared).mass;
  if (params.min_p > 0) {
    mass = min(mass, mass_from(slice, softmax, params.min_p, shared));
    mass = max(mass, softmax.one());  // the best token stays
  }
  return id_in(cross(slice, all, softmax, {false, draw_target(request, mass)}, shared).code);
}

/// The id is right in the first block.
template <int kBlocks>
__device__ int32_t draw(const Sample::Request& request, const Slice& slice, const Survey& all,
                        int64_t vocabulary, SampleShared<kBlocks>& shared) {
  const SamplingParams& params = request.params;
  if (!(params.temperature > 0)) return id_in(all.best);
  const Softmax softmax{logit_of(key_in(all.best)), fminf(1.0F / params.temperature, FLT_MAX),
                        fixed_unit(vocabulary)};
  const uint64_t limit = params.top_k > 0 ? min(static_cast<uint64_t>(params.top_k), all.count) : all.count;
  if (limit > kMaxPrefix) return draw_by_mass(request, slice, all, softmax, limit, shared);
  rank_prefix(slice, all, limit, shared);
  return cluster_rank<kBlocks>() == 0 ? draw_sorted(request, softmax, static_cast<int>(limit), shared) : -1;
}

/// The most probable tokens into shared.choice of the first block.
template <int kBlocks>
__device__ void list_top(int32_t wanted, const Slice& slice, const Survey& all, double log_sum,
                         SampleShared<kBlocks>& shared) {
  const auto count =
      static_cast<int>(min(static_cast<uint64_t>(max(0, min(wanted, Sample::kMaxTop))), all.count));
  if (count > 0) rank_prefix(slice, all, static_cast<uint64_t>(count), shared);
  if (cluster_rank<kBlocks>() != 0) return;
  if (threadIdx.x == 0) shared.choice.top_count = count;
  if (static_cast<int>(threadIdx.x) < count) {
    const uint64_t code = shared.codes[threadIdx.x];
    shared.choice.top_ids[threadIdx.x] = id_in(code);
    shared.choice.top_logprobs[threadIdx.x] = static_cast<float>(logit_of(key_in(code)) - log_sum);
  }
}

/// Of the first block: an empty choice.
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

template <int kBlocks>
__device__ void choose(const Sample::Request& request, const float* logits, const Slice& slice,
                       int64_t vocabulary, SampleShared<kBlocks>& shared) {
  if (cluster_rank<kBlocks>() == 0) clear_choice(shared);
  Survey all = load(logits, slice, shared);
  const bool finite = all.count >> 32 != 0;
  all.count &= 0xFFFFFFFFU;
  if (!finite || request.target >= vocabulary) return;

  const Softmax softmax{logit_of(key_in(all.best)), 1.0F, fixed_unit(vocabulary)};
  const uint64_t mass = mass_from(slice, softmax, -1.0F, shared);
  const double log_sum =
      softmax.largest + log(static_cast<double>(mass) / static_cast<double>(softmax.one()));
  list_top(request.top, slice, all, log_sum, shared);
  int32_t id = request.target;
  if (id < 0) {
    if (penalises(request)) {
      cluster_sync<kBlocks>();  // the top list is read
      penalise(request, logits, slice);
      all = survey(slice, shared);
    }
    id = draw(request, slice, all, vocabulary, shared);
  }
  if (cluster_rank<kBlocks>() != 0 || threadIdx.x != 0) return;
  shared.choice.id = id;
  shared.choice.logprob = static_cast<float>(clean_logit(logits[id]) - log_sum);
}

/// Of the first block.
template <int kBlocks>
__device__ void write_choice(const Sample::Args& args, int64_t output, const SampleShared<kBlocks>& shared) {
  constexpr int kWords = sizeof(Sample::Choice) / sizeof(uint32_t);
  static_assert(sizeof(Sample::Choice) % sizeof(uint32_t) == 0 && kWords <= kSampleThreads);
  __syncthreads();
  const auto* from = reinterpret_cast<const uint32_t*>(&shared.choice);
  auto* to = reinterpret_cast<uint32_t*>(args.choices + output);
  if (threadIdx.x < kWords) to[threadIdx.x] = from[threadIdx.x];
  if (threadIdx.x == 0 && args.ids != nullptr) args.ids[output] = shared.choice.id;
}

int64_t slice_size(int64_t vocabulary, int blocks) { return (vocabulary + blocks - 1) / blocks; }

/// `memory`: a row of keys for each cluster, or null for keys in shared memory.
template <int kBlocks>
__device__ void sample_rows(const Sample::Args& args, int64_t size, uint32_t* memory) {
  extern __shared__ __align__(16) unsigned char bytes[];
  auto& shared = *reinterpret_cast<SampleShared<kBlocks>*>(bytes);
  pdl_wait();
  const int64_t cluster = blockIdx.x / kBlocks;
  const int64_t clusters = gridDim.x / kBlocks;
  const int rank = cluster_rank<kBlocks>();
  Slice slice;
  slice.first = rank * size;
  slice.size = static_cast<int32_t>(max(int64_t{0}, min(size, args.vocabulary - slice.first)));
  slice.keys = memory != nullptr ? memory + (cluster * kBlocks + rank) * size
                                 : reinterpret_cast<uint32_t*>(bytes + sizeof shared);
  for (int64_t output = cluster; output < args.outputs; output += clusters) {
    choose(args.requests[output], args.logits + output * args.vocabulary, slice, args.vocabulary, shared);
    if (rank == 0) write_choice(args, output, shared);
    cluster_sync<kBlocks>();  // no block goes while another reads its shared memory
  }
}

template <int kBlocks>
__global__ void __launch_bounds__(kSampleThreads)
    sample_kernel(const Sample::Args args, const int64_t size, uint32_t* memory) {
  if constexpr (kBlocks == 1 || kHopper) sample_rows<kBlocks>(args, size, memory);
}

template <int kBlocks>
size_t shared_bytes(int64_t vocabulary) {
  return sizeof(SampleShared<kBlocks>) +
         static_cast<size_t>(slice_size(vocabulary, kBlocks)) * sizeof(uint32_t);
}

std::string supports_block(const Sample::Problem& problem, const Machine& machine) {
  if (problem.chains) return "it draws by temperature, top-k, top-p, min-p and the repeat penalty only";
  if (std::string reason = ref::legal(problem); !reason.empty()) return reason;
  return without_shared(sizeof(SampleShared<1>), machine.card);
}

std::string supports_cluster(const Sample::Problem& problem, const Machine& machine) {
  std::string reason = supports_block(problem, machine);
  return reason.empty() ? without_clusters(machine.card) : reason;
}

std::string supports_shared(const Sample::Problem& problem, const Machine& machine) {
  std::string reason = supports_cluster(problem, machine);
  if (!reason.empty() || shared_bytes<kClusterBlocks>(problem.vocabulary) <= machine.card.shared_per_block)
    return reason;
  return std::to_string(problem.vocabulary) + " logits do not fit the shared memory of " +
         std::to_string(kClusterBlocks) + " blocks";
}

template <int kBlocks>
void start(const Sample::Args& args, const Launch& launch, int64_t clusters, size_t shared,
           uint32_t* memory) {
  launch_clusters(launch, sample_kernel<kBlocks>, kBlocks > 1 ? kBlocks : 0,
                  dim3(static_cast<unsigned>(std::clamp<int64_t>(args.outputs, 0, clusters) * kBlocks)),
                  dim3(kSampleThreads), shared, args, slice_size(args.vocabulary, kBlocks), memory);
}

void run_shared(const Sample::Args& args, const Launch& launch) {
  start<kClusterBlocks>(args, launch, 4096, shared_bytes<kClusterBlocks>(args.vocabulary), nullptr);
}

template <int kBlocks>
void run_in_memory(const Sample::Args& args, const Launch& launch) {
  start<kBlocks>(args, launch, kRowsInMemory, sizeof(SampleShared<kBlocks>),
                 reinterpret_cast<uint32_t*>(launch.workspace));
}

template <int kBlocks>
size_t workspace(const Sample::Problem& problem, const Machine&, int) {
  return static_cast<size_t>(kRowsInMemory * kBlocks * slice_size(problem.vocabulary, kBlocks)) *
         sizeof(uint32_t);
}

}  // namespace

std::span<const Row<Sample>> sample_rows() {
  static const Row<Sample> rows[] = {
      {.name = "cuda.top", .device = DeviceKind::cuda, .supports = supports_shared, .run = run_shared},
      {.name = "cuda.top_in_memory",
       .device = DeviceKind::cuda,
       .supports = supports_cluster,
       .run = run_in_memory<kClusterBlocks>,
       .workspace = workspace<kClusterBlocks>},
      {.name = "cuda.top_by_block",
       .device = DeviceKind::cuda,
       .supports = supports_block,
       .run = run_in_memory<1>,
       .workspace = workspace<1>},
  };
  return rows;
}

}  // namespace orrery::kernels::cuda
