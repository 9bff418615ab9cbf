// mandelbrot: as mandelbrot.cpp has it, a thread for each point
#include "orrery_op.h"

extern "C" __global__ void mandelbrot(orrery_call call) {
  const int64_t i = ORRERY_THREAD;
  if (i >= call.items) return;
  const float x = ORRERY_IN(float, &call, 0)[i], y = ORRERY_IN(float, &call, 1)[i];
  const int32_t most = (int32_t)ORRERY_INTEGER(&call, 0);
  float re = 0, im = 0;
  int32_t n = 0;
  for (; n < most && re * re + im * im <= 4; ++n) {
    const float next = re * re - im * im + x;
    im = 2 * re * im + y;
    re = next;
  }
  ORRERY_OUT(int32_t, &call, 0)[i] = n;
}
