// histogram: counts[row, v] = how many elements of the row are v
#include "orrery_op.h"

static void cpu(const orrery_call* call, int64_t begin, int64_t end) {
  const int64_t cols = ORRERY_COLS(call->inputs[0]);
  for (int64_t row = begin; row < end; ++row) {
    const uint8_t* src = ORRERY_IN(uint8_t, call, 0) + row * cols;
    int32_t* counts = ORRERY_OUT(int32_t, call, 0) + row * 256;
    for (int v = 0; v < 256; ++v) counts[v] = 0;
    for (int64_t i = 0; i < cols; ++i) ++counts[src[i]];
  }
}

ORRERY_OP("histogram", "Counts how often each value stands in a row of bytes.", .inputs = "src u8[..., cols]",
          .outputs = "counts i32[..., 256]", .items = ORRERY_ROWS, .cpu = cpu, .cuda_block = 256)
