// Rows of Rope, fastest first. Tokens are split over the team; a token's cosines and sines are made once for
// all of its heads. Frequencies are a geometric series in float64: one pow a call.
#include "kernels/rope.h"

#include <array>
#include <cmath>
#include <numbers>

#include "kernels/cpu/isa/pointwise.h"
#include "kernels/cpu/split.h"

namespace orrery::kernels {
namespace {

constexpr int64_t kMaxDims = 512;  // the tables of one token, on the stack: 2 x 512 floats

template <CpuFeatures features>
std::string supports(const Rope::Problem& problem, const Machine& machine) {
  if (problem.rope_dims > kMaxDims) return "more than 512 dimensions of a head are rotated";
  return legal_on<Rope, ref::legal, features>(problem, machine);
}

/// Turns of each pair for one step of position.
std::array<double, kMaxDims / 2> turns_of(const Rope::Args& args) {
  std::array<double, kMaxDims / 2> turns;
  const double ratio = std::pow(static_cast<double>(args.base), -2.0 / static_cast<double>(args.rope_dims));
  double unscaled = 1.0 / (2.0 * std::numbers::pi);
  for (int64_t i = 0; i < args.rope_dims / 2; ++i) {
    const double factor = args.frequency_factors != nullptr ? args.frequency_factors[i] : 1.0;
    turns[static_cast<size_t>(i)] = scaled_turns(args.scaling, static_cast<double>(i), unscaled) / factor;
    unscaled *= ratio;
  }
  return turns;
}

void multiply(float factor, float* values, int64_t count) {
  for (int64_t i = 0; i < count; ++i) values[i] *= factor;
}

template <const RopeTable& kTable>
void run(const Rope::Args& args, const Launch& launch) {
  const bool interleaved = args.style == Rope::Style::interleaved;
  const int copies = interleaved ? 2 : 1;
  const int64_t angles = copies * args.rope_dims / 2;
  const auto rotate = interleaved ? kTable.rotate_interleaved : kTable.rotate_half;
  const std::array<double, kMaxDims / 2> turns = turns_of(args);
  split(launch, args.tokens, args.heads * args.head_dim, [&](int64_t begin, int64_t end, int) {
    float cosine[kMaxDims];
    float sine[kMaxDims];
    for (int64_t t = begin; t < end; ++t) {
      kTable.angles(turns.data(), args.positions[t], args.rope_dims / 2, copies, cosine, sine);
      if (const float factor = args.scaling.attention_factor; factor != 1.0F) {
        multiply(factor, cosine, angles);
        multiply(factor, sine, angles);
      }
      rotate({args.src + t * args.src_stride, args.dst + t * args.dst_stride, cosine, sine, args.heads,
              args.head_dim, args.rope_dims});
    }
  });
}

}  // namespace

std::span<const Row<Rope>> rope_rows() {
  static const Row<Rope> rows[] = {
      {.name = "cpu.avx512",
       .supports = supports<kAvx512>,
       .run = run<avx512::kRope>,
       .source = "cpu/isa/rope.cpp"},
      {.name = "cpu.avx2",
       .supports = supports<kAvx2>,
       .run = run<avx2::kRope>,
       .source = "cpu/isa/rope.cpp"},
      {.name = "cpu.reference", .supports = on_any_machine<Rope, ref::legal>, .run = ref::rope},
  };
  return rows;
}

}  // namespace orrery::kernels
