// bias_gelu: dst = gelu(src + bias), gelu(x) = x/2 (1 + erf(x / sqrt 2)), and its gradients, in one pass each
#include <math.h>

#include "orrery_op.h"

static const float kRootHalf = 0.70710678f, kRootOfTwoPi = 2.5066283f;

static void cpu(const orrery_call* call, int64_t begin, int64_t end) {
  const int64_t cols = ORRERY_COLS(call->inputs[0]);
  const float* bias = ORRERY_IN(float, call, 1);
  for (int64_t row = begin; row < end; ++row) {
    const float* src = ORRERY_IN(float, call, 0) + row * cols;
    float* dst = ORRERY_OUT(float, call, 0) + row * cols;
    for (int64_t col = 0; col < cols; ++col) {
      const float x = src[col] + bias[col];
      dst[col] = 0.5f * x * (1 + erff(x * kRootHalf));
    }
  }
}

// gelu'(x) = (1 + erf(x / sqrt 2)) / 2 + x exp(-x^2/2) / sqrt(2 pi). By columns, as grad_bias is a sum over rows.
// Inputs: src, bias, dst, grad_dst. Outputs: grad_src, grad_bias.
static void backward(const orrery_call* call, int64_t begin, int64_t end) {
  const int64_t cols = ORRERY_COLS(call->inputs[1]);
  int64_t rows = 1;
  for (int d = 0; d + 1 < call->inputs[0].rank; ++d) rows *= call->inputs[0].sizes[d];
  for (int64_t col = begin; col < end; ++col) {
    double sum = 0;
    for (int64_t i = col; i < rows * cols; i += cols) {
      const float x = ORRERY_IN(float, call, 0)[i] + ORRERY_IN(float, call, 1)[col];
      const float slope = 0.5f * (1 + erff(x * kRootHalf)) + x * expf(-0.5f * x * x) / kRootOfTwoPi;
      sum += ORRERY_OUT(float, call, 0)[i] = ORRERY_IN(float, call, 3)[i] * slope;
    }
    ORRERY_OUT(float, call, 1)[col] = (float)sum;
  }
}

ORRERY_OP("bias_gelu", "Adds a bias and applies the exact GELU, in one pass.",
          .inputs = "src f32[..., cols], bias f32[cols]", .outputs = "dst src", .items = ORRERY_ROWS, .cpu = cpu,
          .cuda_block = 256, .backward_items = ORRERY_COLUMNS, .cpu_backward = backward)
