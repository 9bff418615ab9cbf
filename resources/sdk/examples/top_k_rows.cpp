// top_k_rows: the k largest elements of each row, in order, and where they stood; of equal ones the first comes first
#include "orrery_op.h"

// Not declared in text: k must not exceed the row.
static const char* shape(orrery_call* call) {
  const int64_t k = ORRERY_INTEGER(call, 0);
  return k < 1 || k > ORRERY_COLS(call->inputs[0]) ? "k must be from 1 to the length of a row" : 0;
}

static void cpu(const orrery_call* call, int64_t begin, int64_t end) {
  const int64_t k = ORRERY_INTEGER(call, 0), cols = ORRERY_COLS(call->inputs[0]);
  for (int64_t row = begin; row < end; ++row) {
    const float* src = ORRERY_IN(float, call, 0) + row * cols;
    float* values = ORRERY_OUT(float, call, 0) + row * k;
    int32_t* indices = ORRERY_OUT(int32_t, call, 1) + row * k;
    int64_t kept = 0;  // sorted; a new one moves those that it exceeds
    for (int64_t i = 0; i < cols; ++i) {
      if (kept == k && !(src[i] > values[k - 1])) continue;
      int64_t place = kept < k ? kept++ : k - 1;
      for (; place > 0 && src[i] > values[place - 1]; --place) {
        values[place] = values[place - 1];
        indices[place] = indices[place - 1];
      }
      values[place] = src[i];
      indices[place] = (int32_t)i;
    }
  }
}

ORRERY_OP("top_k_rows", "Takes the k largest elements of each row, in order, and their indices.",
          .inputs = "src f32[..., cols]", .outputs = "values f32[..., k], indices i32[..., k]",
          .attributes = "k = 5: how many are taken", .shape = shape, .items = ORRERY_ROWS, .cpu = cpu,
          .cuda_block = 256)
