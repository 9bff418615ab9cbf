// The machine that this program runs on, as far as its CPU goes.
#pragma once

#include "kernels/machine.h"

namespace orrery::kernels {

inline constexpr CpuFeatures kAmxBf16 = kAvx512Bf16 | CpuFeatures{CpuFeature::amx_tile, CpuFeature::amx_bf16};

/// Asked once. ORRERY_ISA (baseline|avx2|avx2_vnni|avx512|avx512_vnni|avx512_bf16|amx_bf16) leaves it no more
/// features than the set of that name has, where it has all of them.
const Machine& this_machine();

/// For the status bar: "AVX-512 VNNI BF16".
std::string isa_summary();

}  // namespace orrery::kernels
