// The steps of the ladder on the CPU (matmul_ladder.h), and what their files share.
#pragma once

#include "kernels/half.h"
#include "kernels/matmul_ladder.h"

namespace orrery::kernels::ladder {

Row<MatmulLadder> naive_row();
Row<MatmulLadder> blocked_row();
Row<MatmulLadder> packed_row();  // what follows it differs in the tile alone (tile.h)
Row<MatmulLadder> onednn_row();  // no step, the rival

inline float number(float x) { return x; }
inline float number(uint16_t bf16) { return float_from_bf16(bf16); }
inline float number(uint8_t f8) { return float_from_f8_e4m3(f8); }

/// The operands as they are stored. T: float, or uint16_t and uint8_t for the bits of bf16 and f8_e4m3.
template <class T>
struct Operands {
  explicit Operands(const MatmulLadder::Args& args)
      : a(static_cast<const T*>(args.a)),
        b(static_cast<const T*>(args.b)),
        c(args.c),
        m(args.problem.m),
        n(args.problem.n),
        k(args.problem.k),
        scale(args.scale) {}

  const T* a;
  const T* b;
  float* c;
  int64_t m, n, k;
  float scale;
};

/// Multiply-adds, twice.
inline double operations_of(const MatmulLadder::Problem& problem) {
  return 2.0 * static_cast<double>(problem.m) * static_cast<double>(problem.n) *
         static_cast<double>(problem.k);
}

/// `supports` of the steps that one thread takes without vectors.
template <std::string (*legal)(const MatmulLadder::Problem&)>
std::string plain_supports(const MatmulLadder::Problem& problem, const Machine&) {
  constexpr double kMost = 1e10;
  if (std::string reason = legal(problem); !reason.empty()) return reason;
  if (operations_of(problem) <= kMost) return "";
  return "plain loops of one thread would take minutes; they take products of up to 10 billion operations";
}

}  // namespace orrery::kernels::ladder
