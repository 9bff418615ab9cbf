// vector_addition: dst = a + b, and its gradients
#include "orrery_op.h"

static void cpu(const orrery_call* call, int64_t begin, int64_t end) {
  const float *a = ORRERY_IN(float, call, 0), *b = ORRERY_IN(float, call, 1);
  float* dst = ORRERY_OUT(float, call, 0);
  for (int64_t i = begin; i < end; ++i) dst[i] = a[i] + b[i];
}

// Inputs: a, b, dst, grad_dst. Outputs: grad_a, grad_b.
static void backward(const orrery_call* call, int64_t begin, int64_t end) {
  const float* grad = ORRERY_IN(float, call, 3);
  for (int64_t i = begin; i < end; ++i) ORRERY_OUT(float, call, 0)[i] = ORRERY_OUT(float, call, 1)[i] = grad[i];
}

ORRERY_OP("vector_addition", "Adds two tensors of one shape.", .inputs = "a f32[...], b f32[...]",
          .outputs = "dst a", .cpu = cpu, .cpu_backward = backward, .flops = 1)
