#include "kernels/cpu/isa.h"

#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string_view>

#include "kernels/thread_team.h"

namespace orrery::kernels {
namespace {

/// Tiles have state that the system saves for a process only once it has asked.
bool may_use_tiles() {
  constexpr long kRequestPermission = 0x1023, kTileData = 18;
  constexpr uint32_t kTileState = uint32_t{3} << 17;
  uint32_t low = 0, high = 0;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (low & kTileState) == kTileState && syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

CpuFeatures detect() {
  __builtin_cpu_init();
  CpuFeatures found;
  const auto note = [&](bool there, CpuFeature feature) {
    if (there) found = found | CpuFeatures{feature};
  };
  note(__builtin_cpu_supports("avx2"), CpuFeature::avx2);
  note(__builtin_cpu_supports("fma"), CpuFeature::fma);
  note(__builtin_cpu_supports("f16c"), CpuFeature::f16c);
  note(__builtin_cpu_supports("avx512f"), CpuFeature::avx512f);
  note(__builtin_cpu_supports("avx512bw"), CpuFeature::avx512bw);
  note(__builtin_cpu_supports("avx512vl"), CpuFeature::avx512vl);
  note(__builtin_cpu_supports("avx512dq"), CpuFeature::avx512dq);
  note(__builtin_cpu_supports("avx512vnni"), CpuFeature::avx512_vnni);
  note(__builtin_cpu_supports("avx512vbmi"), CpuFeature::avx512_vbmi);
  note(__builtin_cpu_supports("avx512bf16"), CpuFeature::avx512_bf16);
  // What the compiler's list lacks: leaf 7, whose first subleaf says how many there are.
  uint32_t last = 0, b = 0, c = 0, words = 0, more = 0;
  if (__get_cpuid_count(7, 0, &last, &b, &c, &words) == 0) return found;
  if (last >= 1) {
    uint32_t ignored = 0;
    __get_cpuid_count(7, 1, &more, &b, &c, &ignored);
  }
  note(found.has(CpuFeature::avx2) && (more >> 4 & 1) != 0, CpuFeature::avx_vnni);
  note(found.has(CpuFeature::avx512f) && (words >> 23 & 1) != 0, CpuFeature::avx512_fp16);
  if ((words >> 24 & 1) == 0 || !may_use_tiles()) return found;
  note(true, CpuFeature::amx_tile);
  note((words >> 25 & 1) != 0, CpuFeature::amx_int8);
  note((words >> 22 & 1) != 0, CpuFeature::amx_bf16);
  return found;
}

/// Of a list as the system writes it: "0-7,16".
int count_listed(const char* path) {
  std::ifstream list(path);
  int count = 0;
  for (int first = 0; list >> first;) {
    int last = first;
    if (list.peek() == '-') list.ignore(), list >> last;
    count += last - first + 1;
    if (list.peek() == ',') list.ignore();
  }
  return count;
}

uint64_t cache_bytes(int which) {
  const long bytes = sysconf(which);
  return bytes > 0 ? static_cast<uint64_t>(bytes) : 0;
}

struct Wish {
  const char* name;
  CpuFeatures features;
};
constexpr Wish kWishes[] = {
    {"baseline", {}},
    {"avx2", kAvx2},
    {"avx2_vnni", kAvx2Vnni},
    {"avx512", kAvx512},
    {"avx512_vnni", kAvx512Vnni},
    {"avx512_bf16", kAvx512Bf16},
    {"amx_bf16", kAmxBf16},
};

struct Choice {
  Machine machine;
  std::string note;  // what became of ORRERY_ISA, for isa_summary()
};

Choice choose() {
  Choice choice;
  CpuMachine& cpu = choice.machine.cpu;
  cpu = {.features = detect(),
         .cores = available_cores(),
         .slow_cores = count_listed("/sys/devices/cpu_atom/cpus"),
         .l1_bytes = cache_bytes(_SC_LEVEL1_DCACHE_SIZE),
         .l2_bytes = cache_bytes(_SC_LEVEL2_CACHE_SIZE),
         .l3_bytes = cache_bytes(_SC_LEVEL3_CACHE_SIZE)};
  const char* named = std::getenv("ORRERY_ISA");
  if (named == nullptr || *named == '\0') return choice;
  const std::string ignored = " (ORRERY_ISA=" + std::string(named) + " ignored: ";
  for (const Wish& wish : kWishes) {
    if (std::string_view(named) != wish.name) continue;
    const bool there = cpu.features.has(wish.features);
    if (there) cpu.features = wish.features;
    choice.note = there ? " (by ORRERY_ISA)" : ignored + "this machine lacks it)";
    return choice;
  }
  std::string names;
  for (const Wish& wish : kWishes) names += (names.empty() ? "" : ", ") + std::string(wish.name);
  choice.note = ignored + "use one of " + names + ")";
  return choice;
}

const Choice& choice() {
  static const Choice chosen = choose();
  return chosen;
}

}  // namespace

const Machine& this_machine() { return choice().machine; }

std::string isa_summary() { return summary_of(choice().machine.cpu.features) + choice().note; }

}  // namespace orrery::kernels
