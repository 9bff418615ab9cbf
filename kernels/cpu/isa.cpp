#include "kernels/cpu/isa.h"

#include <cstdlib>
#include <string_view>
#include <utility>

namespace orrery::kernels {
namespace {

Isa detect() {
  __builtin_cpu_init();
  const bool avx2 =
      __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c");
  if (!avx2) return Isa::baseline;
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512vbmi") &&
                      __builtin_cpu_supports("avx512bf16");
  return avx512 ? Isa::avx512 : Isa::avx2;
}

const char* plain_name(Isa isa) {
  switch (isa) {
    case Isa::baseline:
      return "baseline x86-64";
    case Isa::avx2:
      return "AVX2 FMA";
    case Isa::avx512:
      return "AVX-512 VNNI BF16";
  }
  return "?";
}

struct Choice {
  Isa isa;
  std::string note;  // what became of ORRERY_ISA, for isa_summary()
};

Choice choose() {
  const Isa best = detect();
  const char* wish = std::getenv("ORRERY_ISA");
  if (wish == nullptr || *wish == '\0') return {best, ""};
  const std::string_view name = wish;
  for (const auto& [known, isa] :
       {std::pair{"baseline", Isa::baseline}, {"avx2", Isa::avx2}, {"avx512", Isa::avx512}}) {
    if (name != known) continue;
    if (isa > best) return {best, " (ORRERY_ISA=" + std::string(name) + " ignored: this machine lacks it)"};
    return {isa, " (by ORRERY_ISA)"};
  }
  return {best, " (ORRERY_ISA=" + std::string(name) + " ignored: use baseline, avx2 or avx512)"};
}

const Choice& choice() {
  static const Choice chosen = choose();
  return chosen;
}

}  // namespace

Isa machine_isa() { return choice().isa; }

std::string isa_refusal(Isa needed) {
  if (needed <= machine_isa()) return "";
  return std::string("needs ") + plain_name(needed) + "; running with " + isa_summary();
}

std::string isa_summary() { return plain_name(choice().isa) + choice().note; }

}  // namespace orrery::kernels
