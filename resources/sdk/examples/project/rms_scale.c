/* rms_scale: each row divided by its root mean square, dst = src / sqrt(mean(src^2) + epsilon); plain C99 */
#include <math.h>

#include "orrery_op.h"

static void cpu(const orrery_call* call, int64_t begin, int64_t end) {
  const int64_t cols = ORRERY_COLS(call->inputs[0]);
  for (int64_t row = begin; row < end; ++row) {
    const float* src = ORRERY_IN(float, call, 0) + row * cols;
    float* dst = ORRERY_OUT(float, call, 0) + row * cols;
    double sum = 0;
    for (int64_t i = 0; i < cols; ++i) sum += (double)src[i] * src[i];
    const float factor = (float)(1 / sqrt(sum / (double)cols + ORRERY_REAL(call, 0)));
    for (int64_t i = 0; i < cols; ++i) dst[i] = src[i] * factor;
  }
}

ORRERY_OP("rms_scale", "Divides each row by its root mean square.", .inputs = "src f32[..., cols]", .outputs = "dst src",
          .attributes = "epsilon = 1e-6: keeps rows of zeros from dividing by zero", .items = ORRERY_ROWS, .cpu = cpu)
