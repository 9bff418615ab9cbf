// Rows of Attention on CUDA, fastest first.
#include <algorithm>

#include "kernels/attention.h"
#include "kernels/cuda/attention_general.cuh"
#include "kernels/cuda/attention_paths.h"
#include "kernels/cuda/attention_shapes.h"

namespace orrery::kernels::cuda {
namespace {

using Kind = Attention::Kind;

constexpr int64_t kLargestHead = 256;
constexpr int64_t kLargestPackedHead = 128;
constexpr int64_t kFewTokens = 16;  // above, queries share the keys that are read

std::string too_large(const Attention::Problem& problem, int64_t largest_head) {
  if (problem.head_dim <= largest_head) return {};
  return "heads of " + std::to_string(problem.head_dim) + " elements; at most " +
         std::to_string(largest_head) + " fit";
}

/// The fast rows' first question.
std::string legal_and_plain(const Attention::Problem& problem) {
  if (std::string reason = ref::legal_of<Kind::softmax>(problem); !reason.empty()) return reason;
  if (problem.bias_reach > 0) return "scores get a bias by distance; the general row adds it";
  return problem.aligned ? "" : "operands lie at any address; 16 bytes are read at a time";
}

std::string supports_general(const Attention::Problem& problem, const Machine&) {
  if (std::string reason = ref::legal_of<Kind::softmax>(problem); !reason.empty()) return reason;
  return too_large(problem, kLargestHead);
}

std::string supports_fastmax(const Attention::Problem& problem, const Machine& machine) {
  if (std::string reason = ref::legal_of<Kind::fastmax>(problem); !reason.empty()) return reason;
  if (std::string reason = too_large(problem, kLargestHead); !reason.empty()) return reason;
  return without_shared(fastmax_shared_bytes(problem), machine.card);
}

/// f16 and bf16 pages, whose rows are read 16 bytes at a time.
std::string legal_pages(const Attention::Problem& problem) {
  if (std::string reason = legal_and_plain(problem); !reason.empty()) return reason;
  if (problem.keys != Attention::Keys::paged) return "the keys are packed; pages are read";
  if (problem.kv != DType::f16 && problem.kv != DType::bf16)
    return "keys of type " + std::string(name_of(problem.kv)) + "; f16 and bf16 go to the tensor cores";
  if (problem.head_dim % 8 != 0)
    return "heads of " + std::to_string(problem.head_dim) +
           " elements; multiples of 8 are read 16 bytes at a time";
  return too_large(problem, kLargestHead);
}

std::string too_many(const Attention::Problem& problem) {
  if (problem.tokens <= kFewTokens) return {};
  return std::to_string(problem.tokens) + " tokens; one by one up to " + std::to_string(kFewTokens);
}

/// Of single tokens, joined in clusters.
std::string without_cluster_singles(const Attention::Problem& problem, const CardMachine& card) {
  if (std::string reason = without_clusters(card); !reason.empty()) return reason;
  return without_shared(cluster_shared_bytes(problem, card), card);
}

std::string supports_decode(const Attention::Problem& problem, const Machine& machine) {
  if (std::string reason = legal_pages(problem); !reason.empty()) return reason;
  if (std::string reason = too_many(problem); !reason.empty()) return reason;
  return without_cluster_singles(problem, machine.card);
}

std::string supports_split_decode(const Attention::Problem& problem, const Machine& machine) {
  if (std::string reason = legal_pages(problem); !reason.empty()) return reason;
  if (std::string reason = too_many(problem); !reason.empty()) return reason;
  return without_shared(group_shared_bytes(problem), machine.card);
}

std::string supports_flash(const Attention::Problem& problem, const Machine& machine) {
  if (std::string reason = legal_pages(problem); !reason.empty()) return reason;
  if (std::string reason = without_cluster_singles(problem, machine.card); !reason.empty()) return reason;
  return without_shared(tiles_shared_bytes(problem), machine.card);
}

std::string supports_split_flash(const Attention::Problem& problem, const Machine& machine) {
  if (std::string reason = legal_pages(problem); !reason.empty()) return reason;
  return without_shared(std::max(group_shared_bytes(problem), tiles_shared_bytes(problem)), machine.card);
}

std::string supports_packed(const Attention::Problem& problem, const Machine& machine) {
  if (std::string reason = legal_and_plain(problem); !reason.empty()) return reason;
  if (problem.keys != Attention::Keys::packed) return "the keys lie in pages; packed ones are read";
  if (std::string reason = too_coarse(problem.precision, Rounded::tf32); !reason.empty()) return reason;
  if (problem.head_dim % 4 != 0)
    return "heads of " + std::to_string(problem.head_dim) +
           " elements; multiples of 4 are read 16 bytes at a time";
  if (std::string reason = too_large(problem, kLargestPackedHead); !reason.empty()) return reason;
  return without_shared(packed_shared_bytes(problem), machine.card);
}

size_t workspace(const Attention::Problem& problem, const Machine&, int) { return split_workspace(problem); }

DType packed_writes(const Attention::Problem&) { return DType::bf16; }
Rounding packed_rounding(const Attention::Problem&, int) { return {Rounded::tf32, Rounded::tf32}; }

bool is_empty(const Attention::Args& args) { return args.problem.tokens == 0 || args.ragged.sequences == 0; }

void run_general(const Attention::Args& args, const Launch& launch) {
  if (!is_empty(args)) attend_general(args, launch);
}

size_t workspace_of_fastmax(const Attention::Problem& problem, const Machine&, int) {
  return fastmax_workspace(problem);
}

void run_fastmax(const Attention::Args& args, const Launch& launch) {
  if (!is_empty(args)) attend_fastmax(args, launch, kFewTokens);
}

bool aligned_pages(const Attention::Args& args) {
  return is_aligned(args.kv.base) && args.kv.page_stride % 16 == 0;
}

using AttendSingles = void (*)(const Attention::Args&, const Launch&, Singles);

template <AttendSingles attend>
void run_decode(const Attention::Args& args, const Launch& launch) {
  if (is_empty(args)) return;
  require_aligned(aligned_pages(args));
  attend(args, launch, Singles::all_tokens);
}

/// A token that its sequence brings alone would leave a tile of rows nearly empty, and its keys are worth
/// splitting.
template <AttendSingles attend>
void run_flash(const Attention::Args& args, const Launch& launch) {
  if (is_empty(args)) return;
  require_aligned(aligned_pages(args));
  attend_tiles(args, launch, 2);
  attend(args, launch, Singles::lone_tokens);
}

/// Packed rows can be read and written 16 bytes at a time.
bool aligned_rows(const Attention::Args& args) {
  const auto aligned = [](const float* base, int64_t stride) { return is_aligned(base) && stride % 4 == 0; };
  return aligned(args.query, args.query_stride) && aligned(args.key, args.key_stride) &&
         aligned(args.value, args.value_stride) && aligned(args.dst, args.dst_stride);
}

void run_packed(const Attention::Args& args, const Launch& launch) {
  if (is_empty(args)) return;
  require_aligned(aligned_rows(args));
  attend_packed(args, launch);
}

}  // namespace

void attend_general(const Attention::Args& args, const Launch& launch) {
  with_keys(args.problem, [&]<DType kKv>() { general::start<kKv>(args, launch); });
}

std::span<const Row<Attention>> attention_rows() {
  constexpr DeviceKind cuda = DeviceKind::cuda;
  static const Row<Attention> rows[] = {
      {.name = "cuda.flash_decode",
       .device = cuda,
       .supports = supports_decode,
       .run = run_decode<attend_singles>,
       .workspace = workspace},
      {.name = "cuda.split_decode",
       .device = cuda,
       .supports = supports_split_decode,
       .run = run_decode<attend_singles_split>,
       .workspace = workspace},
      {.name = "cuda.flash",
       .device = cuda,
       .supports = supports_flash,
       .run = run_flash<attend_singles>,
       .workspace = workspace},
      {.name = "cuda.split_flash",
       .device = cuda,
       .supports = supports_split_flash,
       .run = run_flash<attend_singles_split>,
       .workspace = workspace},
      {.name = "cuda.flash_packed",
       .device = cuda,
       .supports = supports_packed,
       .run = run_packed,
       .writes = packed_writes,
       .rounding = packed_rounding},
      {.name = "cuda.general", .device = cuda, .supports = supports_general, .run = run_general},
      {.name = "cuda.fastmax",
       .device = cuda,
       .supports = supports_fastmax,
       .run = run_fastmax,
       .workspace = workspace_of_fastmax},
  };
  return rows;
}

}  // namespace orrery::kernels::cuda
