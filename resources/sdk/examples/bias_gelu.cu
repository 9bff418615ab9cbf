// bias_gelu: a block for each row; backward: a thread for each column, so that sums have one order
#include "orrery_op.h"

constexpr float kRootHalf = 0.70710678f, kRootOfTwoPi = 2.5066283f;

extern "C" __global__ void bias_gelu(orrery_call call) {
  const int64_t cols = ORRERY_COLS(call.inputs[0]), row = blockIdx.x;
  for (int64_t col = threadIdx.x; col < cols; col += blockDim.x) {
    const float x = ORRERY_IN(float, &call, 0)[row * cols + col] + ORRERY_IN(float, &call, 1)[col];
    ORRERY_OUT(float, &call, 0)[row * cols + col] = 0.5f * x * (1 + erff(x * kRootHalf));
  }
}

extern "C" __global__ void bias_gelu_backward(orrery_call call) {
  const int64_t col = ORRERY_THREAD, cols = ORRERY_COLS(call.inputs[1]);
  if (col >= call.items) return;
  int64_t rows = 1;
  for (int d = 0; d + 1 < call.inputs[0].rank; ++d) rows *= call.inputs[0].sizes[d];
  double sum = 0;
  for (int64_t i = col; i < rows * cols; i += cols) {
    const float x = ORRERY_IN(float, &call, 0)[i] + ORRERY_IN(float, &call, 1)[col];
    const float slope = 0.5f * (1 + erff(x * kRootHalf)) + x * expf(-0.5f * x * x) / kRootOfTwoPi;
    sum += ORRERY_OUT(float, &call, 0)[i] = ORRERY_IN(float, &call, 3)[i] * slope;
  }
  ORRERY_OUT(float, &call, 1)[col] = (float)sum;
}
