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

// linear_quant.cpp
struct QuantFunctions {
  std::string (*supports)(const Linear::Problem& problem, const Machine& machine);
  void (*run)(const Linear::Args& args, const Launch& launch);
  size_t (*workspace)(const Linear::Problem& problem, const Machine& machine, int threads);
};
extern const QuantFunctions kMatvecAvx512, kTilesAvx512, kMatvecAvx2Vnni, kMatvecAvx2;
extern const QuantFunctions kMatvecInt8Avx512, kTilesInt8Avx512, kMatvecInt8Avx2Vnni;

// linear_dense.cpp
std::string supports_dot_avx512(const Linear::Problem& problem, const Machine& machine);
std::string supports_dot_avx2(const Linear::Problem& problem, const Machine& machine);
size_t dot_workspace(const Linear::Problem& problem, const Machine& machine, int threads);
void run_dot_avx512(const Linear::Args& args, const Launch& launch);
void run_dot_avx2(const Linear::Args& args, const Launch& launch);

// linear_onednn.cpp
std::string supports_onednn_f32(const Linear::Problem& problem, const Machine& machine);
std::string supports_onednn_bf16(const Linear::Problem& problem, const Machine& machine);
size_t onednn_f32_workspace(const Linear::Problem& problem, const Machine& machine, int threads);
size_t onednn_bf16_workspace(const Linear::Problem& problem, const Machine& machine, int threads);
const WeightPacking* onednn_f32_packing(const Linear::Problem& problem);
const WeightPacking* onednn_bf16_packing(const Linear::Problem& problem);
void run_onednn_f32(const Linear::Args& args, const Launch& launch);
void run_onednn_bf16(const Linear::Args& args, const Launch& launch);
/// Empty when the problem is legal, has dense weights in whole blocks of 32 columns, and may be rounded so.
std::string dense_bf16_refusal(const Linear::Problem& problem);

// linear_amx.cpp
std::string supports_amx(const Linear::Problem& problem, const Machine& machine);
size_t amx_workspace(const Linear::Problem& problem, const Machine& machine, int threads);
const WeightPacking* amx_packing(const Linear::Problem& problem);
void run_amx(const Linear::Args& args, const Launch& launch);

}  // namespace orrery::kernels
