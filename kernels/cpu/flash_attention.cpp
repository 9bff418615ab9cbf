// Rows of FlashAttention, fastest first; the arithmetic is in isa/flash_attention*.cpp. Threads take units
// (flash_units.h), those of late queries, which see most under a causal mask, first; what a unit computes
// does not depend on who takes it.
//   workspace: a thread's tiles and states
#include <cmath>

#include "kernels/cpu/flash_units.h"

namespace orrery::kernels {
namespace {

int64_t forward_floats(int64_t head_dim) {
  return attention_scratch_floats(head_dim) + attention_state_floats(head_dim);
}

size_t forward_workspace(const FlashAttention::Problem& problem, const Machine&, int threads) {
  return static_cast<size_t>(forward_floats(problem.head_dim) * std::max(threads, 1)) * sizeof(float);
}

template <const FlashTable& kTable>
void run_forward(const FlashAttention::Args& args, const Launch& launch) {
  if (args.queries <= 0) return;
  const FlashUnits units(args);
  const int64_t dim = args.problem.head_dim;
  auto* floats = reinterpret_cast<float*>(launch.workspace);
  const int64_t each = kUnitRows * (args.keys + 1) * dim;
  split(launch, units.count(), each, [&](int64_t begin, int64_t end, int thread) {
    float* scratch = floats + thread * forward_floats(dim);
    float* largest = scratch + attention_scratch_floats(dim);
    const AttentionState state{largest, largest + kUnitRows, largest + 2 * kUnitRows};
    FlashRow rows[kUnitRows];
    for (int64_t item = begin; item < end; ++item) {
      const int64_t tile = units.tiles() - 1 - item % units.tiles();
      const FlashUnits::Place place = units.place(item / units.tiles(), tile);
      const FlashUnit unit = units.make(place, rows);
      const KeyRange keys = units.seen(place);
      kTable.forward(unit, keys.begin, keys.end, scratch, state);
      for (int64_t r = 0; args.log_sum_exp != nullptr && r < place.rows; ++r) {
        const bool nothing = state.sum[r] == 0;
        args.log_sum_exp[rows[r].number] = nothing ? -INFINITY : state.largest[r] + std::log(state.sum[r]);
      }
    }
  });
}

std::string legal_forward(const FlashAttention::Problem& problem) { return ref::legal(problem); }

}  // namespace

std::span<const Row<FlashAttention>> flash_attention_rows() {
  using Op = FlashAttention;
  static const Row<Op> rows[] = {
      bf16_row<Op, kAmxBf16>("cpu.amx_bf16.flash", run_forward<amx_bf16::kFlash>, forward_workspace),
      bf16_row<Op, kAvx512Bf16>("cpu.avx512_bf16.flash", run_forward<avx512_bf16::kFlash>, forward_workspace),
      {.name = "cpu.avx512.flash",
       .supports = legal_on<Op, legal_forward, kAvx512>,
       .run = run_forward<avx512::kFlash>,
       .workspace = forward_workspace,
       .source = "cpu/isa/flash_attention.cpp"},
      {.name = "cpu.avx2.flash",
       .supports = legal_on<Op, legal_forward, kAvx2>,
       .run = run_forward<avx2::kFlash>,
       .workspace = forward_workspace,
       .source = "cpu/isa/flash_attention.cpp"},
      {.name = "cpu.reference", .supports = on_any_machine<Op, legal_forward>, .run = ref::flash_attention},
  };
  return rows;
}

}  // namespace orrery::kernels
