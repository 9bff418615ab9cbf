// The rows of Linear, declared by source file and put in order by cpu/linear.cpp.
#pragma once

#include "kernels/cpu/isa.h"
#include "kernels/linear.h"

namespace orrery::kernels {

/// Empty when the problem is one that Linear defines (extents, segments, block sizes), else what is wrong
/// with it.
std::string linear_refusal(const Linear::Problem& problem);

constexpr bool is_dense(DType weight) {
  return weight == DType::f32 || weight == DType::f16 || weight == DType::bf16;
}

namespace ref {
std::string linear_supports(const Linear::Problem& problem, const Machine& machine);
size_t linear_workspace(const Linear::Problem& problem, const Machine& machine, int threads);
void linear(const Linear::Args& args, const Launch& launch);
}  // namespace ref

/// What the rows of one source have in common.
struct LinearFunctions {
  std::string (*supports)(const Linear::Problem& problem, const Machine& machine);
  void (*run)(const Linear::Args& args, const Launch& launch);
  size_t (*workspace)(const Linear::Problem& problem, const Machine& machine, int threads);
};

// linear_quant.cpp
extern const LinearFunctions kMatvecAvx512, kTilesAvx512, kMatvecAvx2Vnni, kMatvecAvx2;
extern const LinearFunctions kMatvecInt8Avx512, kTilesInt8Avx512, kMatvecInt8Avx2Vnni;

// linear_dense.cpp
std::string supports_dot_avx512(const Linear::Problem& problem, const Machine& machine);
std::string supports_dot_avx2(const Linear::Problem& problem, const Machine& machine);
size_t dot_workspace(const Linear::Problem& problem, const Machine& machine, int threads);
void run_dot_avx512(const Linear::Args& args, const Launch& launch);
void run_dot_avx2(const Linear::Args& args, const Launch& launch);

// linear_onednn.cpp
std::string supports_onednn(const Linear::Problem& problem, const Machine& machine);
size_t onednn_workspace(const Linear::Problem& problem, const Machine& machine, int threads);
const WeightPacking* onednn_packing(const Linear::Problem& problem);
void run_onednn(const Linear::Args& args, const Launch& launch);
/// Empty when the problem is legal and has dense weights in whole blocks of so many columns.
std::string packed_refusal(const Linear::Problem& problem, int64_t column_block);

// linear_tiled.cpp
extern const LinearFunctions kTiledAmx, kTiledAvx512Bf16;
const WeightPacking* tiled_packing(const Linear::Problem& problem);

}  // namespace orrery::kernels
