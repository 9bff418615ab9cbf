// Rotary position embedding (Su et al. 2021, arXiv 2104.09864) on the first rope_dims of each head:
//   angle(t, i) = 2 pi * positions[t] * scaled_turns(base^(-2i / rope_dims) / 2 pi) / frequency_factors[i]
//   (x, y) -> attention_factor * (x cos - y sin, x sin + y cos)
//   interleaved: pairs (2i, 2i+1) (GGUF llama order);  half: pairs (i, i + rope_dims/2) (Hugging Face order)
//   src, dst (tokens, heads * head_dim) f32 with row strides; dst may be src
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>

#include "kernels/host_device.h"
#include "kernels/row.h"

namespace orrery::kernels {

/// How the turns of a pair are slowed down, so that a model reads longer texts than it was trained on.
///   none     as they are
///   linear   all divided by factor
///   llama3   pairs that turn less than `slow` times over the original context are divided by factor, those
///            that turn more than `fast` times are kept, those between are mixed by their number of turns
///   yarn     likewise (Peng et al. 2023, arXiv 2309.00071), mixed by the number of the pair: kept before
///            pair `fast`, divided behind pair `slow` (yarn_scaling makes them of turns)
struct RopeScaling {
  enum class Kind : uint8_t { none, linear, llama3, yarn };
  Kind kind = Kind::none;
  double factor = 1, slow = 1, fast = 4;
  double original_context = 0;    // tokens; llama3
  float attention_factor = 1.0F;  // multiplies what is rotated, whatever the kind
};

/// Turns per position of pair `pair`, which unscaled turns so often.
ORRERY_HOST_DEVICE constexpr double scaled_turns(const RopeScaling& scaling, double pair, double turns) {
  double kept = 1;  // share of the unscaled turns
  switch (scaling.kind) {
    case RopeScaling::Kind::none:
      return turns;
    case RopeScaling::Kind::linear:
      return turns / scaling.factor;
    case RopeScaling::Kind::llama3:
      kept = (scaling.original_context * turns - scaling.slow) / (scaling.fast - scaling.slow);
      break;
    case RopeScaling::Kind::yarn:
      kept = (scaling.slow - pair) / (scaling.slow - scaling.fast);
      break;
  }
  kept = kept < 0 ? 0 : kept > 1 ? 1 : kept;
  return kept * turns + (1 - kept) * turns / scaling.factor;
}

/// Yarn whose mix begins at the pair that turns `fast` times over the original context and ends at the one
/// that turns `slow` times, both rounded outwards.
inline RopeScaling yarn_scaling(double factor, double slow, double fast, double original_context, double base,
                                int64_t rope_dims) {
  const auto pair_of = [&](double turns) {
    return static_cast<double>(rope_dims) * std::log(original_context / (turns * 2.0 * std::numbers::pi)) /
           (2.0 * std::log(base));
  };
  RopeScaling scaling{RopeScaling::Kind::yarn, factor};
  scaling.original_context = original_context;
  scaling.fast = std::max(std::floor(pair_of(fast)), 0.0);
  scaling.slow = std::min(std::ceil(pair_of(slow)), static_cast<double>(rope_dims - 1));
  if (scaling.slow <= scaling.fast) scaling.slow = scaling.fast + 1e-3;
  return scaling;
}

struct Rope {
  static constexpr std::string_view kName = "rope";
  enum class Style : uint8_t { interleaved, half };
  struct Problem {
    Style style = Style::interleaved;
    int64_t head_dim = 0, rope_dims = 0;
  };
  struct Args {
    Style style = Style::interleaved;
    const float* src = nullptr;
    float* dst = nullptr;
    int64_t src_stride = 0, dst_stride = 0;
    const int32_t* positions = nullptr;  // (tokens)
    int64_t tokens = 0, heads = 0, head_dim = 0, rope_dims = 0;
    float base = 10000.0F;
    RopeScaling scaling = {};
    const float* frequency_factors = nullptr;  // (rope_dims / 2) or null
  };
};
std::span<const Row<Rope>> rope_rows();
namespace cuda {
std::span<const Row<Rope>> rope_rows();
}
namespace ref {
void rope(const Rope::Args& args, const Launch& launch);
std::string legal(const Rope::Problem& problem);
}  // namespace ref

}  // namespace orrery::kernels
