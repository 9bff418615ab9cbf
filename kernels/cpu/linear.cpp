// The rows of Linear in order of preference.
#include "kernels/cpu/linear_rows.h"

namespace orrery::kernels {
namespace {

Rounding rounds_to_int16(const Linear::Problem&, int) { return {.activations = Rounded::int16}; }
Rounding rounds_to_int8(const Linear::Problem&, int) { return {.activations = Rounded::int8}; }
Rounding rounds_to_bf16(const Linear::Problem&, int) { return {Rounded::bf16, Rounded::bf16}; }
DType bf16(const Linear::Problem&) { return DType::bf16; }

Row<Linear> int16_row(std::string_view name, const LinearFunctions& functions) {
  return {.name = name,
          .supports = functions.supports,
          .run = functions.run,
          .workspace = functions.workspace,
          .arithmetic = Arithmetic::int16,
          .rounding = rounds_to_int16};
}

/// They refuse all problems but those that ask for int8.
Row<Linear> int8_row(std::string_view name, const LinearFunctions& functions) {
  Row<Linear> row = int16_row(name, functions);
  row.arithmetic = Arithmetic::int8;
  row.rounding = rounds_to_int8;
  return row;
}

Row<Linear> tiled_row(std::string_view name, const LinearFunctions& functions) {
  return {.name = name,
          .supports = functions.supports,
          .run = functions.run,
          .workspace = functions.workspace,
          .packing = tiled_packing,
          .reads = bf16,
          .writes = bf16,
          .arithmetic = Arithmetic::bf16,
          .rounding = rounds_to_bf16};
}

}  // namespace

std::span<const Row<Linear>> linear_rows() {
  static const Row<Linear> rows[] = {
      int8_row("cpu.avx512_vnni.matvec_int8", kMatvecInt8Avx512),
      int8_row("cpu.avx512_vnni.tiles_int8", kTilesInt8Avx512),
      int8_row("cpu.avx2_vnni.matvec_int8", kMatvecInt8Avx2Vnni),
      int16_row("cpu.avx512_vnni.matvec", kMatvecAvx512),
      int16_row("cpu.avx512_vnni.tiles", kTilesAvx512),
      int16_row("cpu.avx2_vnni.matvec", kMatvecAvx2Vnni),
      int16_row("cpu.avx2.matvec", kMatvecAvx2),
      tiled_row("cpu.amx_bf16.tiles", kTiledAmx),
      tiled_row("cpu.avx512_bf16.tiles", kTiledAvx512Bf16),
      {.name = "cpu.onednn.f32",
       .supports = supports_onednn,
       .run = run_onednn,
       .workspace = onednn_workspace,
       .packing = onednn_packing,
       .library = "oneDNN"},
      {.name = "cpu.avx512.dot",
       .supports = supports_dot_avx512,
       .run = run_dot_avx512,
       .workspace = dot_workspace,
       .source = "cpu/isa/linear_dense.cpp"},
      {.name = "cpu.avx2.dot",
       .supports = supports_dot_avx2,
       .run = run_dot_avx2,
       .workspace = dot_workspace,
       .source = "cpu/isa/linear_dense.cpp"},
      {.name = "cpu.reference",
       .supports = ref::linear_supports,
       .run = ref::linear,
       .workspace = ref::linear_workspace},
  };
  return rows;
}

}  // namespace orrery::kernels
