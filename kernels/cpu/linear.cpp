// The rows of Linear in order of preference.
#include "kernels/cpu/linear_rows.h"

namespace orrery::kernels {
namespace {

Rounding rounds_to_integers(const Linear::Problem&, int) { return {.activations = Rounded::int16}; }
Rounding rounds_to_bf16(const Linear::Problem&, int) { return {Rounded::bf16, Rounded::bf16}; }

}  // namespace

std::span<const Row<Linear>> linear_rows() {
  static constexpr Row<Linear> rows[] = {
      {.name = "cpu.avx512_vnni.matvec",
       .supports = supports_matvec_avx512,
       .run = run_matvec_avx512,
       .workspace = matvec_workspace,
       .arithmetic = Arithmetic::int16,
       .rounding = rounds_to_integers},
      {.name = "cpu.avx512_vnni.tiles",
       .supports = supports_tiles_avx512,
       .run = run_tiles_avx512,
       .workspace = tiles_workspace,
       .arithmetic = Arithmetic::int16,
       .rounding = rounds_to_integers},
      {.name = "cpu.avx2_vnni.matvec",
       .supports = supports_matvec_avx2_vnni,
       .run = run_matvec_avx2_vnni,
       .workspace = matvec_workspace,
       .arithmetic = Arithmetic::int16,
       .rounding = rounds_to_integers},
      {.name = "cpu.avx2.matvec",
       .supports = supports_matvec_avx2,
       .run = run_matvec_avx2,
       .workspace = matvec_workspace,
       .arithmetic = Arithmetic::int16,
       .rounding = rounds_to_integers},
      {.name = "cpu.onednn.bf16",
       .supports = supports_onednn_bf16,
       .run = run_onednn_bf16,
       .workspace = onednn_bf16_workspace,
       .packing = onednn_bf16_packing,
       .arithmetic = Arithmetic::bf16,
       .rounding = rounds_to_bf16},
      {.name = "cpu.onednn.f32",
       .supports = supports_onednn_f32,
       .run = run_onednn_f32,
       .workspace = onednn_f32_workspace,
       .packing = onednn_f32_packing},
      {.name = "cpu.avx512.dot",
       .supports = supports_dot_avx512,
       .run = run_dot_avx512,
       .workspace = dot_workspace},
      {.name = "cpu.avx2.dot",
       .supports = supports_dot_avx2,
       .run = run_dot_avx2,
       .workspace = dot_workspace},
      {.name = "cpu.reference",
       .supports = ref::linear_supports,
       .run = ref::linear,
       .workspace = ref::linear_workspace},
  };
  return rows;
}

}  // namespace orrery::kernels
