// top_k_rows: a block for each row takes the largest one k times: that after the last one in the order of value, then
// place
#include "orrery_op.h"

struct Found {
  float value;
  int index;  // -1: none
};

__device__ bool before(Found a, Found b) {
  if (a.index < 0 || b.index < 0) return a.index >= 0;
  return a.value > b.value || (a.value == b.value && a.index < b.index);
}

extern "C" __global__ void top_k_rows(orrery_call call) {
  __shared__ Found best[256];
  const int64_t k = ORRERY_INTEGER(&call, 0), cols = ORRERY_COLS(call.inputs[0]), row = blockIdx.x;
  const float* src = ORRERY_IN(float, &call, 0) + row * cols;
  Found last = {0, -1};
  for (int64_t taken = 0; taken < k; ++taken) {
    Found own = {0, -1};
    for (int64_t i = threadIdx.x; i < cols; i += blockDim.x) {
      const Found one = {src[i], (int)i};
      if ((last.index < 0 || before(last, one)) && before(one, own)) own = one;
    }
    best[threadIdx.x] = own;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
      if (threadIdx.x < half && before(best[threadIdx.x + half], best[threadIdx.x]))
        best[threadIdx.x] = best[threadIdx.x + half];
      __syncthreads();
    }
    last = best[0];
    __syncthreads();
    if (threadIdx.x == 0) {
      ORRERY_OUT(float, &call, 0)[row * k + taken] = last.value;
      ORRERY_OUT(int32_t, &call, 1)[row * k + taken] = last.index;
    }
  }
}
