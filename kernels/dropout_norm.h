// Dropout, residual add and norm in one, and its gradients. src is (rows, cols):
//   t = keep(r, c) ? src rowscale[r] / (1 - p) : 0
//   x = t colscale[c] + residual, rounded to its type, in which it is stored in residual_out
//   layer: out = weight (x - mean) s + bias, s = 1 / sqrt(var(x) + eps)
//   rms:   out = weight x s + bias,          s = 1 / sqrt(mean(x^2) + eps)
// and with y = (x - mean) s (rms: x s), g = weight grad_out, m1 = mean(g) (rms: 0), m2 = mean(g y):
//   d = s (g - m1 - m2 y) + grad_residual_out
//   grad_residual = d
//   grad_src      = keep(r, c) ? d rowscale[r] colscale[c] / (1 - p) : 0
//   grad_weight   = sum over rows of grad_out y         grad_bias = sum over rows of grad_out
//   grad_colscale = sum over rows of keep(r, c) ? d rowscale[r] src / (1 - p) : 0
// A parallel residual has a second source, a second norm of the same x, or both (HazyResearch's
// dropout_add_layer_norm_parallel_residual):
//   x    = t colscale[c] + t2 + residual, t2 = keep2(r, c) ? src2 / (1 - p) : 0
//   out2 = out with weight2 and bias2 in place of weight and bias
//   g = weight grad_out + weight2 grad_out2, grad_src2 = keep2(r, c) ? d / (1 - p) : 0,
//   grad_weight2 and grad_bias2 as grad_weight and grad_bias, of grad_out2
// keep2 is drawn at the same seed, row and column as keep, but at Dropout::kSecondNormStream, the last word
// of the counter: the two masks have no number in common, and each follows from its place alone, as keep
// does. rowscale, colscale and the numbers of a subset's rows of src are those of src alone; out2 goes by the
// rows of out, and no numbers of 8 bits are given of it. The norm and the gradients see x as it is stored, so
// both have the same mean and s, and neither these nor the mask are kept from one to the other.
//   keep   Dropout::keeps(r, c) of dropout.h
//   layout: all without gaps; weight, bias, colscale (cols) f32, rowscale (rows) f32
//   src, out, grad_out, grad_src of one type, residual of that or f32, x and its gradients likewise, f32
//   where residual is; grad_weight, grad_bias, grad_colscale f32
// out is given too, or instead, as 8-bit numbers with a factor a row, for a product of integers that follows:
//   scales[r] = max |out[r]| / 127, of out before it is rounded to its type
//   quantised[r, c] = out[r, c] / scales[r], rounded to the nearest, halves to even;
//                     zeros where scales[r] is 0
// A row with an element that is no finite number has zeros, and NaN for its factor.
// Some rows only (drop path): row r of x is row src_rows[r] of src (or none: -1), and its norm is row
// out_rows[r] of out (or none: -1); numbers outside count as -1, and at most one row may name a row of src
// where its gradient is asked for, or of out. Rows of out and of grad_src that no row names hold zeros.
// rowscale, the mask and what else goes by rows go by those of x. The source (HazyResearch's x0_subset and
// out_subset) counts from 1, with 0 for none; its rowscale_const is row_factor, which is a factor of every
// row beside rowscale. Sums over rows are taken by fixed parts of the rows and these in their order: the same
// call gives the same bits, however many threads there are.
#pragma once

#include "kernels/dropout.h"
#include "kernels/norm.h"

namespace orrery::kernels {

/// Which rows of src and of out belong to those of x.
struct NormRows {
  const int32_t* src_rows = nullptr;  // (rows); null: row r
  const int32_t* out_rows = nullptr;
  int64_t src_count = 0, out_count = 0;  // rows of src and out, where there are such numbers
  float row_factor = 1.0F;

  /// -1: none.
  ORRERY_HOST_DEVICE_INLINE int64_t src_of(int64_t row) const {
    return src_rows != nullptr ? held(src_rows[row], src_count) : row;
  }
  ORRERY_HOST_DEVICE_INLINE int64_t out_of(int64_t row) const {
    return out_rows != nullptr ? held(out_rows[row], out_count) : row;
  }

 private:
  ORRERY_HOST_DEVICE_INLINE static int64_t held(int64_t row, int64_t count) {
    return row >= 0 && row < count ? row : -1;
  }
};

struct DropoutNorm {
  static constexpr std::string_view kName = "dropout_norm";
  struct Problem {
    Norm::Kind kind = Norm::Kind::layer;
    int64_t cols = 0;
    DType src = DType::f32;       // and of out
    DType residual = DType::f32;  // where there is one
    DType x = DType::f32;
    bool parallel = false;  // without it src2 and out2 are null
  };
  struct Args {
    Problem problem;
    const void* src = nullptr;
    const void* src2 = nullptr;  // (rows, cols); may be null, as all but src and weight
    const void* residual = nullptr;
    const float* weight = nullptr;
    const float* bias = nullptr;
    const float* weight2 = nullptr;  // where out2 is
    const float* bias2 = nullptr;
    const float* rowscale = nullptr;
    const float* colscale = nullptr;
    void* out = nullptr;  // null: not wanted, where quantised or out2 is
    void* out2 = nullptr;
    int8_t* quantised = nullptr;  // of the shape of out
    float* scales = nullptr;      // (rows of out), where quantised is
    // May be src, src2 or residual, where the types are the same (src: without src_rows).
    void* residual_out = nullptr;
    int64_t rows = 0;  // of x
    Dropout dropout = {};
    float eps = 1e-5F;
    NormRows subset = {};
  };
};
std::span<const Row<DropoutNorm>> dropout_norm_rows();
namespace cuda {
std::span<const Row<DropoutNorm>> dropout_norm_rows();
}
namespace ref {
void dropout_norm(const DropoutNorm::Args& args, const Launch& launch);
std::string legal(const DropoutNorm::Problem& problem);
}  // namespace ref

struct DropoutNormBackward {
  static constexpr std::string_view kName = "dropout_norm_backward";
  struct Problem {
    Norm::Kind kind = Norm::Kind::layer;
    int64_t cols = 0;
    DType src = DType::f32;  // and of grad_out, grad_src
    DType x = DType::f32;    // and of grad_residual_out, grad_residual
    bool parallel = false;   // without it all of the second source and norm are null
  };
  struct Args {
    Problem problem;
    const void* grad_out = nullptr;
    const void* grad_out2 = nullptr;          // may be null
    const void* grad_residual_out = nullptr;  // may be null
    const void* x = nullptr;                  // residual_out of the forward call
    const void* src = nullptr;                // read for grad_colscale alone
    const float* weight = nullptr;
    const float* weight2 = nullptr;   // where grad_out2 is
    const float* rowscale = nullptr;  // may be null
    const float* colscale = nullptr;  // may be null
    // What nobody asks for is null; none is an operand of the call.
    void* grad_src = nullptr;
    void* grad_src2 = nullptr;
    void* grad_residual = nullptr;
    float* grad_weight = nullptr;
    float* grad_bias = nullptr;
    float* grad_weight2 = nullptr;
    float* grad_bias2 = nullptr;
    float* grad_colscale = nullptr;
    int64_t rows = 0;
    Dropout dropout = {};
    float eps = 1e-5F;
    NormRows subset = {};
  };
};
std::span<const Row<DropoutNormBackward>> dropout_norm_backward_rows();
namespace cuda {
std::span<const Row<DropoutNormBackward>> dropout_norm_backward_rows();
}
namespace ref {
void dropout_norm_backward(const DropoutNormBackward::Args& args, const Launch& launch);
std::string legal(const DropoutNormBackward::Problem& problem);
}  // namespace ref

}  // namespace orrery::kernels
