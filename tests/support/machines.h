// Machines that are not there, for tests of which rows they would run.
#pragma once

#include "kernels/machine.h"

namespace orrery::kernels::machines {

inline constexpr size_t kKb = 1024, kMb = 1024 * kKb;

constexpr Machine cpu(CpuFeatures features, int cores = 8, int slow_cores = 0) {
  return {.cpu = {.features = features,
                  .cores = cores,
                  .slow_cores = slow_cores,
                  .l1_bytes = 32 * kKb,
                  .l2_bytes = kMb,
                  .l3_bytes = 32 * kMb},
          .card = {}};
}

inline constexpr Machine baseline = cpu({});
inline constexpr Machine haswell = cpu(kAvx2);
inline constexpr Machine alder_lake = cpu(kAvx2Vnni, 16, 8);
inline constexpr Machine skylake_x = cpu(kAvx512);
inline constexpr Machine cascade_lake = cpu(kAvx512Vnni);
inline constexpr Machine ice_lake = cpu(kAvx512Vnni | CpuFeatures{CpuFeature::avx512_vbmi});
inline constexpr Machine zen4 = cpu(kAvx512Bf16 | CpuFeatures{CpuFeature::avx512_vbmi});
inline constexpr Machine sapphire_rapids =
    cpu(kAvx512Bf16 | kAvx2Vnni |
        CpuFeatures{CpuFeature::avx512_vbmi, CpuFeature::avx512_fp16, CpuFeature::amx_tile,
                    CpuFeature::amx_int8, CpuFeature::amx_bf16});

/// With machine code of its own.
constexpr Machine card(int capability, int multiprocessors, size_t shared_per_block, size_t l2_bytes) {
  return {.cpu = {},
          .card = {.capability = capability,
                   .code = capability,
                   .translated = false,
                   .multiprocessors = multiprocessors,
                   .shared_per_block = shared_per_block,
                   .shared_per_multiprocessor = shared_per_block + kKb,
                   .l2_bytes = l2_bytes}};
}

inline constexpr Machine a100 = card(80, 108, 163 * kKb, 40 * kMb);
inline constexpr Machine rtx3090 = card(86, 82, 99 * kKb, 6 * kMb);
inline constexpr Machine rtx4090 = card(89, 128, 99 * kKb, 72 * kMb);
inline constexpr Machine h100 = card(90, 132, 227 * kKb, 50 * kMb);
inline constexpr Machine h200 = card(90, 132, 227 * kKb, 50 * kMb);
inline constexpr Machine b200 = card(100, 148, 227 * kKb, 126 * kMb);
inline constexpr Machine rtx5090 = card(120, 170, 99 * kKb, 96 * kMb);

/// With a module that has nothing but PTX for compute capability 8.0.
constexpr Machine by_ptx(Machine machine) {
  machine.card.code = 80;
  machine.card.translated = true;
  return machine;
}

}  // namespace orrery::kernels::machines
