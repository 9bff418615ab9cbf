// Rows of Attention on CUDA, fastest first.
#include "kernels/attention.h"
#include "kernels/cuda/attention_general.cuh"
#include "kernels/cuda/attention_paths.h"

namespace orrery::kernels::cuda {
namespace {

constexpr int64_t kLargestHead = 256;
constexpr int64_t kLargestPackedHead = 128;
constexpr int64_t kFewTokens = 16;  // above, queries share the keys that are read

std::string too_large(const Attention::Problem& problem, int64_t largest_head) {
  if (problem.head_dim <= largest_head) return {};
  return "heads of " + std::to_string(problem.head_dim) + " elements; at most " +
         std::to_string(largest_head) + " fit";
}

/// The fast rows' first question.
std::string legal_without_bias(const Attention::Problem& problem) {
  if (std::string reason = ref::legal(problem); !reason.empty()) return reason;
  return problem.bias_reach > 0 ? "scores get a bias by distance; the general row adds it" : "";
}

std::string general_supports(const Attention::Problem& problem) {
  if (std::string reason = ref::legal(problem); !reason.empty()) return reason;
  return too_large(problem, kLargestHead);
}

std::string decode_supports(const Attention::Problem& problem) {
  if (std::string reason = paged_halves_reason(problem, kLargestHead); !reason.empty()) return reason;
  if (problem.tokens > kFewTokens)
    return std::to_string(problem.tokens) + " tokens; one by one up to " + std::to_string(kFewTokens);
  return {};
}

std::string flash_supports(const Attention::Problem& problem) {
  return paged_halves_reason(problem, kLargestHead);
}

std::string packed_supports(const Attention::Problem& problem) {
  if (std::string reason = legal_without_bias(problem); !reason.empty()) return reason;
  if (problem.keys != Attention::Keys::packed) return "the keys lie in pages; packed ones are read";
  if (problem.accuracy == Accuracy::exact) return "exact arithmetic; packed keys are rounded to TF32";
  if (problem.head_dim % 4 != 0)
    return "heads of " + std::to_string(problem.head_dim) +
           " elements; multiples of 4 are read 16 bytes at a time";
  return too_large(problem, kLargestPackedHead);
}

DType packed_writes(const Attention::Problem&) { return DType::bf16; }
Rounding packed_rounding(const Attention::Problem&, int) { return {Rounded::tf32, Rounded::tf32}; }

void run_general(const Attention::Args& args, const Launch& launch) {
  if (args.problem.tokens == 0 || args.ragged.sequences == 0) return;
  attend_general(args, launch);
}

void run_decode(const Attention::Args& args, const Launch& launch) {
  if (args.problem.tokens == 0 || args.ragged.sequences == 0) return;
  if (!aligned_pages(args)) return attend_general(args, launch);
  attend_singles(args, launch, Singles::all_tokens);
}

/// Packed rows can be read and written 16 bytes at a time.
bool aligned_rows(const Attention::Args& args) {
  const auto aligned = [](const float* base, int64_t stride) {
    return is_aligned(base, 16) && stride % 4 == 0;
  };
  return aligned(args.query, args.query_stride) && aligned(args.key, args.key_stride) &&
         aligned(args.value, args.value_stride) && aligned(args.dst, args.dst_stride);
}

/// A token that its sequence brings alone would leave a tile of rows nearly empty, and its keys are worth
/// splitting.
void run_flash(const Attention::Args& args, const Launch& launch) {
  if (args.problem.tokens == 0 || args.ragged.sequences == 0) return;
  if (!aligned_pages(args)) return attend_general(args, launch);
  attend_tiles(args, launch, 2);
  attend_singles(args, launch, Singles::lone_tokens);
}

void run_packed(const Attention::Args& args, const Launch& launch) {
  if (args.problem.tokens == 0 || args.ragged.sequences == 0) return;
  if (!aligned_rows(args)) return attend_general(args, launch);
  attend_packed(args, launch);
}

}  // namespace

void attend_general(const Attention::Args& args, const Launch& launch) {
  switch (args.problem.kv) {
    case DType::f32:
      return general::start<DType::f32>(args, launch);
    case DType::bf16:
      return general::start<DType::bf16>(args, launch);
    case DType::q8_0:
      return general::start<DType::q8_0>(args, launch);
    default:
      return general::start<DType::f16>(args, launch);
  }
}

std::string paged_halves_reason(const Attention::Problem& problem, int64_t largest_head) {
  if (std::string reason = legal_without_bias(problem); !reason.empty()) return reason;
  if (problem.keys != Attention::Keys::paged) return "the keys are packed; pages are read";
  if (problem.kv != DType::f16 && problem.kv != DType::bf16)
    return "keys of type " + std::string(name_of(problem.kv)) + "; f16 and bf16 go to the tensor cores";
  if (problem.head_dim % 8 != 0)
    return "heads of " + std::to_string(problem.head_dim) +
           " elements; multiples of 8 are read 16 bytes at a time";
  return too_large(problem, largest_head);
}

bool aligned_pages(const Attention::Args& args) {
  return reinterpret_cast<uintptr_t>(args.kv.base) % 16 == 0 && args.kv.page_stride % 16 == 0;
}

std::span<const Row<Attention>> attention_rows() {
  static const Row<Attention> rows[] = {
      {.name = "cuda.flash_decode",
       .device = DeviceKind::cuda,
       .supports = decode_supports,
       .run = run_decode},
      {.name = "cuda.flash", .device = DeviceKind::cuda, .supports = flash_supports, .run = run_flash},
      {.name = "cuda.flash_packed",
       .device = DeviceKind::cuda,
       .supports = packed_supports,
       .run = run_packed,
       .writes = packed_writes,
       .rounding = packed_rounding},
      {.name = "cuda.general", .device = DeviceKind::cuda, .supports = general_supports, .run = run_general},
  };
  return rows;
}

}  // namespace orrery::kernels::cuda
