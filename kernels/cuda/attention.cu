// Rows of Attention on CUDA, fastest first.
#include "kernels/cuda/attention_general.cuh"
#include "kernels/cuda/rows.h"
#include "kernels/ref/reference.h"

namespace orrery::kernels::cuda {
namespace {

constexpr int64_t kLargestHead = 256;

std::string general_supports(const Attention::Problem& problem) {
  if (std::string reason = ref::legal(problem); !reason.empty()) return reason;
  if (problem.head_dim > kLargestHead)
    return "heads of " + std::to_string(problem.head_dim) + " elements; at most " +
           std::to_string(kLargestHead) + " fit";
  return {};
}

void run_general(const Attention::Args& args, const Launch& launch) {
  if (args.problem.tokens == 0 || args.ragged.sequences == 0) return;
  switch (args.problem.kv) {
    case DType::f32:
      return general::start<DType::f32>(args, launch);
    case DType::bf16:
      return general::start<DType::bf16>(args, launch);
    default:
      return general::start<DType::f16>(args, launch);
  }
}

}  // namespace

std::span<const Row<Attention>> attention_rows() {
  static const Row<Attention> rows[] = {
      {.name = "cuda.general", .device = DeviceKind::cuda, .supports = general_supports, .run = run_general},
  };
  return rows;
}

}  // namespace orrery::kernels::cuda
