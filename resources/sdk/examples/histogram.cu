// histogram: a block for each row, which counts in shared memory
#include "orrery_op.h"

extern "C" __global__ void histogram(orrery_call call) {
  __shared__ int counts[256];
  const int64_t row = blockIdx.x, cols = ORRERY_COLS(call.inputs[0]);
  const uint8_t* src = ORRERY_IN(uint8_t, &call, 0) + row * cols;
  counts[threadIdx.x] = 0;
  __syncthreads();
  for (int64_t i = threadIdx.x; i < cols; i += blockDim.x) atomicAdd(&counts[src[i]], 1);
  __syncthreads();
  ORRERY_OUT(int32_t, &call, 0)[row * 256 + threadIdx.x] = counts[threadIdx.x];
}
