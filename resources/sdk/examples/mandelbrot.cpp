// mandelbrot: for each point c = x + iy, the first n for which |z_n| > 2, where z_0 = 0 and z_(n+1) = z_n^2 + c;
// at most `iterations`
#include "orrery_op.h"

static void cpu(const orrery_call* call, int64_t begin, int64_t end) {
  const float *x = ORRERY_IN(float, call, 0), *y = ORRERY_IN(float, call, 1);
  int32_t* steps = ORRERY_OUT(int32_t, call, 0);
  const int32_t most = (int32_t)ORRERY_INTEGER(call, 0);
  for (int64_t i = begin; i < end; ++i) {
    float re = 0, im = 0;
    int32_t n = 0;
    for (; n < most && re * re + im * im <= 4; ++n) {
      const float next = re * re - im * im + x[i];
      im = 2 * re * im + y[i];
      re = next;
    }
    steps[i] = n;
  }
}

ORRERY_OP("mandelbrot", "How many steps each point takes to leave the circle of radius 2.",
          .inputs = "x f32[...], y f32[...]", .outputs = "steps i32[...]",
          .attributes = "iterations = 100: at most so many", .cpu = cpu, .flops = 700)
