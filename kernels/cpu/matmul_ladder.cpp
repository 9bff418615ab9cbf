// The ladder on the CPU, step by step, then oneDNN as the rival, the reference last. cpu/ladder has a file
// for each step.
#include "kernels/matmul_ladder.h"

#include "kernels/cpu/ladder/panels.h"

namespace orrery::kernels {
namespace {

template <CpuFeatures kFeatures>
std::string bf16_supports(const MatmulLadder::Problem& problem, const Machine& machine) {
  std::string reason = legal_on<MatmulLadder, ref::legal, kFeatures>(problem, machine);
  if (reason.empty() && problem.dtype != DType::bf16)
    return "matrices of " + std::string(name_of(problem.dtype)) + "; it multiplies bf16";
  return reason;
}

/// Of a step whose tile multiplies pairs.
template <const LadderTile& kTile>
using Pairs = ladder::Panels<uint16_t, uint16_t, kTile>;

template <const LadderTile& kTile>
void run_pairs(const MatmulLadder::Args& args, const Launch& launch) {
  Pairs<kTile>(args, launch).multiply();
}

Rounding bf16_rounding(const MatmulLadder::Problem&, int) { return {Rounded::bf16, Rounded::bf16}; }

}  // namespace

std::span<const Row<MatmulLadder>> matmul_ladder_rows() {
  static const Row<MatmulLadder> rows[] = {
      ladder::naive_row(),
      ladder::blocked_row(),
      ladder::packed_row(),
      {.name = "cpu.avx2.tile",
       .supports = legal_on<MatmulLadder, ref::legal_along_n, kAvx2>,
       .run = ladder::run_floats<kAvx2Tile>,
       .workspace = ladder::float_workspace<kAvx2Tile>,
       .source = "cpu/ladder/avx2.cpp",
       .block = {kAvx2Tile.rows, kAvx2Tile.cols}},
      {.name = "cpu.avx512.tile",
       .supports = legal_on<MatmulLadder, ref::legal_along_n, kAvx512>,
       .run = ladder::run_floats<kAvx512Tile>,
       .workspace = ladder::float_workspace<kAvx512Tile>,
       .source = "cpu/ladder/avx512.cpp",
       .block = {kAvx512Tile.rows, kAvx512Tile.cols}},
      {.name = "cpu.avx512_bf16.tile",
       .supports = bf16_supports<kAvx512Bf16>,
       .run = run_pairs<kBf16Tile>,
       .workspace = Pairs<kBf16Tile>::workspace,
       .arithmetic = Arithmetic::bf16,
       .rounding = bf16_rounding,
       .source = "cpu/ladder/bf16.cpp",
       .block = {kBf16Tile.rows, kBf16Tile.cols}},
      {.name = "cpu.amx_bf16.tile",
       .supports = bf16_supports<kAmxBf16>,
       .run = run_pairs<kAmxTile>,
       .workspace = Pairs<kAmxTile>::workspace,
       .arithmetic = Arithmetic::bf16,
       .rounding = bf16_rounding,
       .source = "cpu/ladder/amx.cpp",
       .block = {kAmxTile.rows, kAmxTile.cols}},
      ladder::onednn_row(),
      {.name = "cpu.reference",
       .supports = on_any_machine<MatmulLadder, ref::legal>,
       .run = ref::matmul_ladder},
  };
  return rows;
}

}  // namespace orrery::kernels
