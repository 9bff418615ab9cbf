// The rows of Linear in order of preference.
#include "kernels/cpu/linear_rows.h"

namespace orrery::kernels {

std::span<const Row<Linear>> linear_rows() {
  constexpr DeviceKind cpu = DeviceKind::cpu;
  static constexpr Row<Linear> rows[] = {
      {"cpu.avx512_vnni.matvec", cpu, supports_matvec_avx512, run_matvec_avx512, matvec_workspace, nullptr},
      {"cpu.avx512_vnni.tiles", cpu, supports_tiles_avx512, run_tiles_avx512, tiles_workspace, nullptr},
      {"cpu.avx2.matvec", cpu, supports_matvec_avx2, run_matvec_avx2, matvec_workspace, nullptr},
      {"cpu.onednn.bf16", cpu, supports_onednn_bf16, run_onednn_bf16, onednn_bf16_workspace,
       onednn_bf16_packing},
      {"cpu.onednn.f32", cpu, supports_onednn_f32, run_onednn_f32, onednn_f32_workspace, onednn_f32_packing},
      {"cpu.avx512.dot", cpu, supports_dot_avx512, run_dot_avx512, dot_workspace, nullptr},
      {"cpu.avx2.dot", cpu, supports_dot_avx2, run_dot_avx2, dot_workspace, nullptr},
      {"cpu.reference", cpu, ref::linear_supports, ref::linear, ref::linear_workspace, nullptr},
  };
  return rows;
}

}  // namespace orrery::kernels
