// Linear: dst_s = epilogue(src * weight_s^T + bias_s) for one to four weight segments that read one src.
//   src (tokens, cols) f32 row-major      weight_s (rows_s, cols) row-major, dtype per segment, stored or
//   packed bias_s (rows_s) f32 or null           dst_s (tokens, rows_s) f32, row stride dst_stride
//   src and dst may be bf16 where a row says so (Problem::src, dst)
// A gated epilogue (silu_mul, gelu_tanh_mul) takes exactly two segments (gate, up) of equal rows and writes
// one dst:
//   dst = act(gate) * up.
#pragma once

#include <array>
#include <span>

#include "kernels/activation.h"
#include "kernels/row.h"

namespace orrery::kernels {

struct Linear {
  static constexpr std::string_view kName = "linear";
  static constexpr int kMaxSegments = 4;

  struct Segment {
    int64_t rows = 0;
    DType weight = DType::f32;
    bool bias = false;
  };
  struct Problem {
    int64_t tokens = 1;      // upper bound of the plan's bucket
    int64_t min_tokens = 1;  // lower bound of the bucket
    int64_t cols = 0;
    std::array<Segment, kMaxSegments> segments{};
    int segment_count = 1;
    Epilogue epilogue = Epilogue::none;
    Precision precision = Precision::balanced;
    /// How src and all dst are stored: f32, or what the row's `reads` and `writes` tell for this problem.
    /// Args then point at elements of that type, and strides count them.
    DType src = DType::f32, dst = DType::f32;
    /// Weights begin at multiples of 16 bytes, as all do that a model holds; else rows that read so much at a
    /// time refuse.
    bool aligned = true;
  };
  static Storage storage(const Problem& problem) { return {problem.src, problem.dst}; }
  struct Operand {
    const void* weight = nullptr;  // stored form, or the row's packing
    const float* bias = nullptr;
    float* dst = nullptr;    // null for the second segment of a *_mul epilogue
    int64_t dst_stride = 0;  // elements
  };
  struct Args {
    Problem problem;
    int64_t tokens = 0;  // of this call: min_tokens <= tokens <= problem.tokens
    const float* src = nullptr;
    int64_t src_stride = 0;  // elements
    std::array<Operand, kMaxSegments> operands{};
  };
};

/// Fastest first; the last row (reference) accepts every legal problem.
std::span<const Row<Linear>> linear_rows();
namespace cuda {
std::span<const Row<Linear>> linear_rows();
}

/// dst[cols] = one row of a stored matrix as float32, by the format's own definition (quantise.h is the way
/// back).
void dequantise_row(DType dtype, const void* src, int64_t cols, float* dst);

}  // namespace orrery::kernels
