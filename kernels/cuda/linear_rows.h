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

// linear_matvec.cu
std::string supports_matvec(const Linear::Problem& problem);
void run_matvec(const Linear::Args& args, const Launch& launch);

// linear_tiles.cu
std::string supports_tiles(const Linear::Problem& problem);
size_t tiles_workspace(const Linear::Problem& problem, int threads);
Rounding tiles_rounding(const Linear::Problem& problem, int segment);
void run_tiles(const Linear::Args& args, const Launch& launch);

// linear_dense.cu
std::string supports_dense(const Linear::Problem& problem);
size_t dense_workspace(const Linear::Problem& problem, int threads);
DType dense_reads(const Linear::Problem& problem);
DType dense_writes(const Linear::Problem& problem);
Rounding dense_rounding(const Linear::Problem& problem, int segment);
void run_dense(const Linear::Args& args, const Launch& launch);

// linear_general.cu
void run_general(const Linear::Args& args, const Launch& launch);

}  // namespace orrery::kernels::cuda
