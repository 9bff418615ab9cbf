// Rotary embedding, reference: angles and rotations in float64, straight from the formula of rope.h.
// One thread.
#include "kernels/rope.h"

#include <cmath>
#include <numbers>

namespace orrery::kernels::ref {
namespace {

double angle(const Rope::Args& args, int64_t token, int64_t pair) {
  const double exponent = -2.0 * static_cast<double>(pair) / static_cast<double>(args.rope_dims);
  const double turns = std::pow(static_cast<double>(args.base), exponent) / (2.0 * std::numbers::pi);
  const double factor = args.frequency_factors != nullptr ? args.frequency_factors[pair] : 1.0;
  return 2.0 * std::numbers::pi * args.positions[token] *
         scaled_turns(args.scaling, static_cast<double>(pair), turns) / factor;
}

void rotate_head(const Rope::Args& args, int64_t token, const float* src, float* dst) {
  const bool interleaved = args.style == Rope::Style::interleaved;
  const int64_t pairs = args.rope_dims / 2;
  for (int64_t i = 0; i < pairs; ++i) {
    const int64_t first = interleaved ? 2 * i : i;
    const int64_t second = interleaved ? 2 * i + 1 : i + pairs;
    const double turn = angle(args, token, i);
    const double cosine = args.scaling.attention_factor * std::cos(turn);
    const double sine = args.scaling.attention_factor * std::sin(turn);
    const double x = src[first];
    const double y = src[second];
    dst[first] = static_cast<float>(x * cosine - y * sine);
    dst[second] = static_cast<float>(x * sine + y * cosine);
  }
  for (int64_t i = args.rope_dims; i < args.head_dim; ++i) dst[i] = src[i];
}

}  // namespace

std::string legal(const Rope::Problem& problem) {
  if (problem.head_dim <= 0) return "the heads have no dimensions";
  if (problem.rope_dims < 0 || problem.rope_dims % 2 != 0)
    return "an odd number of dimensions cannot be rotated in pairs";
  if (problem.rope_dims > problem.head_dim) return "more dimensions to rotate than a head has";
  return {};
}

void rope(const Rope::Args& args, const Launch&) {
  for (int64_t t = 0; t < args.tokens; ++t) {
    for (int64_t h = 0; h < args.heads; ++h) {
      rotate_head(args, t, args.src + t * args.src_stride + h * args.head_dim,
                  args.dst + t * args.dst_stride + h * args.head_dim);
    }
  }
}

}  // namespace orrery::kernels::ref
