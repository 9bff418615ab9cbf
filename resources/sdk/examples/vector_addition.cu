// vector_addition: dst = a + b, a thread for each element
#include "orrery_op.h"

extern "C" __global__ void vector_addition(orrery_call call) {
  const int64_t i = ORRERY_THREAD;
  if (i < call.items) ORRERY_OUT(float, &call, 0)[i] = ORRERY_IN(float, &call, 0)[i] + ORRERY_IN(float, &call, 1)[i];
}

extern "C" __global__ void vector_addition_backward(orrery_call call) {
  const int64_t i = ORRERY_THREAD;
  if (i < call.items) ORRERY_OUT(float, &call, 0)[i] = ORRERY_OUT(float, &call, 1)[i] = ORRERY_IN(float, &call, 3)[i];
}
