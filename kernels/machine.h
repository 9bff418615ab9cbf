// The machine that a row is chosen for: what `supports` and `workspace` may ask beside the problem. Of a CPU
// what instructions it has, as a set, since no order holds them all (AVX-512 without BF16, AVX2 with VNNI);
// of a card what it can hold and what its kernels were compiled for. Plain values, so that a test describes
// by hand machines that are not there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>

namespace orrery::kernels {

enum class CpuFeature : uint8_t {
  avx2,
  fma,
  f16c,
  avx_vnni,  // VEX-encoded: 256 bits, of machines without AVX-512 too
  avx512f,
  avx512bw,
  avx512vl,
  avx512dq,
  avx512_vnni,
  avx512_vbmi,
  avx512_bf16,
  avx512_fp16,
  amx_tile,
  amx_int8,
  amx_bf16
};

/// A set of features. All members are public, so that a template can take one.
struct CpuFeatures {
  uint32_t bits = 0;

  constexpr CpuFeatures() = default;
  constexpr explicit CpuFeatures(uint32_t bits) : bits(bits) {}
  constexpr CpuFeatures(std::initializer_list<CpuFeature> features) {
    for (const CpuFeature feature : features) bits |= uint32_t{1} << static_cast<int>(feature);
  }
  constexpr bool has(CpuFeatures others) const { return (others.bits & ~bits) == 0; }
  constexpr bool has(CpuFeature feature) const { return has(CpuFeatures{feature}); }
  constexpr CpuFeatures operator|(CpuFeatures others) const { return CpuFeatures(bits | others.bits); }
  constexpr CpuFeatures operator&(CpuFeatures others) const { return CpuFeatures(bits & others.bits); }
  constexpr CpuFeatures without(CpuFeatures others) const { return CpuFeatures(bits & ~others.bits); }
  constexpr bool operator==(const CpuFeatures&) const = default;
};

// The sets that sources of cpu/isa are built for, by the name of their namespace.
inline constexpr CpuFeatures kAvx2{CpuFeature::avx2, CpuFeature::fma, CpuFeature::f16c};
inline constexpr CpuFeatures kAvx2Vnni = kAvx2 | CpuFeatures{CpuFeature::avx_vnni};
inline constexpr CpuFeatures kAvx512 = kAvx2 | CpuFeatures{CpuFeature::avx512f, CpuFeature::avx512bw,
                                                           CpuFeature::avx512vl, CpuFeature::avx512dq};
inline constexpr CpuFeatures kAvx512Vnni = kAvx512 | CpuFeatures{CpuFeature::avx512_vnni};
inline constexpr CpuFeatures kAvx512Bf16 = kAvx512Vnni | CpuFeatures{CpuFeature::avx512_bf16};

struct CpuMachine {
  CpuFeatures features;
  int cores = 1;       // that the program may use, hardware threads counted each
  int slow_cores = 0;  // of them, where a machine has two kinds
  uint64_t l1_bytes = 0, l2_bytes = 0, l3_bytes = 0;  // l1 and l2 of one core; 0: none or not known
  bool operator==(const CpuMachine&) const = default;
};

/// Compute capabilities are written as their architectures are: 90 for 9.0.
struct CardMachine {
  int capability = 0;
  int code = 0;             // the capability that the module's kernels for this card were compiled for
  bool translated = false;  // they are PTX, which the driver translates
  int multiprocessors = 0;
  size_t shared_per_block = 0;  // most, where a kernel asks for it
  size_t shared_per_multiprocessor = 0;
  uint64_t l2_bytes = 0;
  bool operator==(const CardMachine&) const = default;
};

struct Machine {
  CpuMachine cpu;
  CardMachine card;
};

/// "AVX-512 VNNI BF16".
std::string summary_of(CpuFeatures features);

/// Empty when the CPU has all of `needed`, else what is missing: "needs AVX-512 VNNI; the CPU has AVX2 FMA".
std::string missing(CpuFeatures needed, const Machine& machine);

}  // namespace orrery::kernels
