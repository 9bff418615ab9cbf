// The functions behind LinearTable, each in its own source.
#pragma once

#include "kernels/cpu/isa/linear.h"
#include "kernels/cpu/isa/simd.h"

namespace orrery::kernels::ORRERY_ISA {

void linear_finish(const LinearFinish& finish);
void linear_dense(const DenseShare& share);
void linear_quantise(ActivationBlock block, int halves, const float* src, int64_t cols, std::byte* record);
void linear_quant_rows(const QuantShare& share);
void linear_quant_tiles(const QuantShare& share);
void linear_to_bf16(const float* src, int64_t n, uint16_t* dst);
extern const LinearTable kLinear;

}  // namespace orrery::kernels::ORRERY_ISA
