// Which instruction sets this machine has, and how rows of one source built per ISA are named.
#pragma once

#include <string>

namespace orrery::kernels {

enum class Isa { baseline, avx2, avx512 };

/// The best ISA of this machine, or the lower one that ORRERY_ISA (baseline|avx2|avx512) asks for. avx2 means
/// AVX2, FMA and F16C; avx512 means F, BW, VL, DQ, VNNI, VBMI and BF16 as well.
Isa machine_isa();

/// Empty when the machine has `needed`, else the reason.
std::string isa_refusal(Isa needed);

/// For the status bar: "AVX-512 VNNI BF16".
std::string isa_summary();

}  // namespace orrery::kernels
