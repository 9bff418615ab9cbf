// add_one: dst = src + amount
#include "orrery_op.h"

static void cpu(const orrery_call* call, int64_t begin, int64_t end) {
  const float* src = ORRERY_IN(float, call, 0);
  float* dst = ORRERY_OUT(float, call, 0);
  for (int64_t i = begin; i < end; ++i) dst[i] = src[i] + (float)ORRERY_REAL(call, 0);
}

ORRERY_OP("add_one", "Adds an amount to every element.", .inputs = "src f32[...]", .outputs = "dst src",
          .attributes = "amount = 1.0: what is added", .cpu = cpu)
