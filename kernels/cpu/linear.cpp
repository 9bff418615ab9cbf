// The rows of Linear in order of preference.
#include "kernels/cpu/linear_rows.h"

namespace orrery::kernels {

std::span<const Row<Linear>> linear_rows() {
  constexpr DeviceKind cpu = DeviceKind::cpu;
  static constexpr Row<Linear> rows[] = {
      {"cpu.avx512_vnni.matvec", cpu, supports_matvec_avx512, run_matvec_avx512, matvec_workspace, nullptr},
      {"cpu.avx512_vnni.tiles", cpu, supports_tiles_avx512, run_tiles_avx512, tiles_workspace, nullptr},
      {"cpu.avx2.matvec", cpu, supports_matvec_avx2, run_matvec_avx2, matvec_workspace, nullptr},
      {"cpu.avx512.dot", cpu, supports_dot_avx512, run_dot_avx512, dot_workspace, nullptr},
      {"cpu.avx2.dot", cpu, supports_dot_avx2, run_dot_avx2, dot_workspace, nullptr},
      {"cpu.reference", cpu, ref::linear_supports, ref::linear, ref::linear_workspace, nullptr},
  };
  return rows;
}

}  // namespace orrery::kernels
