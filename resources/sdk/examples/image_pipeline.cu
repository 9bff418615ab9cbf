// image_pipeline: as image_pipeline.cpp has it, a thread for each point
#include "orrery_op.h"

__device__ int32_t light(const uint8_t* src, int64_t height, int64_t width, int64_t y, int64_t x, int32_t brightness) {
  y = y < 0 ? 0 : y >= height ? height - 1 : y;
  x = x < 0 ? 0 : x >= width ? width - 1 : x;
  const uint8_t* point = src + (y * width + x) * 3;
  const int32_t grey = (77 * point[0] + 150 * point[1] + 29 * point[2]) / 256 + brightness;
  return grey < 0 ? 0 : grey > 255 ? 255 : grey;
}

extern "C" __global__ void image_pipeline(orrery_call call) {
  const int64_t i = ORRERY_THREAD;
  if (i >= call.items) return;
  const int64_t height = call.inputs[0].sizes[0], width = call.inputs[0].sizes[1];
  int32_t sum = 0;
  for (int64_t y = i / width - 1; y <= i / width + 1; ++y)
    for (int64_t x = i % width - 1; x <= i % width + 1; ++x)
      sum += light(ORRERY_IN(uint8_t, &call, 0), height, width, y, x, (int32_t)ORRERY_INTEGER(&call, 0));
  ORRERY_OUT(uint8_t, &call, 0)[i] = (uint8_t)((2 * sum + 9) / 18);
}
