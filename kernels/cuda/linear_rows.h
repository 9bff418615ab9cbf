// The CUDA rows of Linear, declared by source file and put in order by linear.cpp; what they have in common.
#pragma once

#include "kernels/cpu/linear_rows.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/linear_packing.h"

namespace orrery::kernels::cuda {

/// Sets of rows, tokens and slabs that a launch is made for.
constexpr int64_t blocks_of(int64_t extent, int64_t size) { return (extent + size - 1) / size; }

/// How refusals speak of what they refuse.
inline std::string tokens_text(int64_t tokens) {
  return std::to_string(tokens) + (tokens == 1 ? " token" : " tokens");
}
inline std::string mixed_text(DType first, DType other) {
  return std::string(name_of(first)) + " and " + std::string(name_of(other)) + " weights in one pass";
}

constexpr const char* kUnalignedWeights = "weights lie at any address; 16 bytes are read at a time";
inline bool weights_are_aligned(const Linear::Args& args) {
  for (int s = 0; s < args.problem.segment_count; ++s)
    if (!is_aligned(args.operands[static_cast<size_t>(s)].weight, 16)) return false;
  return true;
}

// linear_matvec.cu
std::string supports_matvec(const Linear::Problem& problem, const Machine& machine);
void run_matvec(const Linear::Args& args, const Launch& launch);

// linear_tiles.cu
std::string supports_tiles(const Linear::Problem& problem, const Machine& machine);
size_t tiles_workspace(const Linear::Problem& problem, const Machine& machine, int threads);
Rounding tiles_rounding(const Linear::Problem& problem, int segment);
void run_tiles(const Linear::Args& args, const Launch& launch);

// linear_dense.cu
std::string supports_dense(const Linear::Problem& problem, const Machine& machine);
size_t dense_workspace(const Linear::Problem& problem, const Machine& machine, int threads);
DType dense_reads(const Linear::Problem& problem);
DType dense_writes(const Linear::Problem& problem);
Rounding dense_rounding(const Linear::Problem& problem, int segment);
void run_dense(const Linear::Args& args, const Launch& launch);

// linear_general.cu
void run_general(const Linear::Args& args, const Launch& launch);

}  // namespace orrery::kernels::cuda
