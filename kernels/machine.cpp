#include "kernels/machine.h"

namespace orrery::kernels {
namespace {

struct Named {
  CpuFeatures features;
  const char* name;
};

/// What is missing is named by the first of these that are missing whole.
constexpr Named kNames[] = {
    {{CpuFeature::avx512f, CpuFeature::avx512bw, CpuFeature::avx512vl, CpuFeature::avx512dq}, "AVX-512"},
    {{CpuFeature::avx2}, "AVX2"},
    {{CpuFeature::fma}, "FMA"},
    {{CpuFeature::f16c}, "F16C"},
    {{CpuFeature::avx_vnni}, "AVX-VNNI"},
    {{CpuFeature::avx512f}, "AVX-512 F"},
    {{CpuFeature::avx512bw}, "AVX-512 BW"},
    {{CpuFeature::avx512vl}, "AVX-512 VL"},
    {{CpuFeature::avx512dq}, "AVX-512 DQ"},
    {{CpuFeature::avx512_vnni}, "AVX-512 VNNI"},
    {{CpuFeature::avx512_vbmi}, "AVX-512 VBMI"},
    {{CpuFeature::avx512_bf16}, "AVX-512 BF16"},
    {{CpuFeature::avx512_fp16}, "AVX-512 FP16"},
    {{CpuFeature::amx_tile}, "AMX"},
    {{CpuFeature::amx_int8}, "AMX INT8"},
    {{CpuFeature::amx_bf16}, "AMX BF16"},
};

}  // namespace

std::string summary_of(CpuFeatures features) {
  if (!features.has(kAvx2)) return "baseline x86-64";
  const bool wide = features.has(kAvx512);
  std::string text = wide ? "AVX-512" : "AVX2 FMA";
  if (features.has(wide ? CpuFeature::avx512_vnni : CpuFeature::avx_vnni)) text += " VNNI";
  if (wide && features.has(CpuFeature::avx512_bf16)) text += " BF16";
  if (wide && features.has(CpuFeature::avx512_fp16)) text += " FP16";
  if (features.has(CpuFeature::amx_tile)) text += " AMX";
  return text;
}

std::string missing(CpuFeatures needed, const Machine& machine) {
  CpuFeatures lacking = needed.without(machine.cpu.features);
  if (lacking == CpuFeatures()) return "";
  std::string text;
  for (const Named& named : kNames) {
    if (!lacking.has(named.features)) continue;
    text += (text.empty() ? "needs " : ", ") + std::string(named.name);
    lacking = lacking.without(named.features);
  }
  return text + "; the CPU has " + summary_of(machine.cpu.features);
}

}  // namespace orrery::kernels
