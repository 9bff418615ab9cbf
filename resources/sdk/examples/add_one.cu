// add_one: dst = src + amount, a thread for each element
#include "orrery_op.h"

extern "C" __global__ void add_one(orrery_call call) {
  const int64_t i = ORRERY_THREAD;
  if (i < call.items) ORRERY_OUT(float, &call, 0)[i] = ORRERY_IN(float, &call, 0)[i] + (float)ORRERY_REAL(&call, 0);
}
