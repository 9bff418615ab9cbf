// image_pipeline: a picture in red, green and blue becomes grey, brighter, then blurred, in one pass
//   grey  = (77 red + 150 green + 29 blue) / 256
//   light = min(grey + brightness, 255)
//   dst   = the mean of light over 3 x 3 points, rounded; points outside are those at the edge
// In whole numbers, so that the card gives the same bytes.
#include "orrery_op.h"

static int32_t light(const uint8_t* src, int64_t height, int64_t width, int64_t y, int64_t x, int32_t brightness) {
  y = y < 0 ? 0 : y >= height ? height - 1 : y;
  x = x < 0 ? 0 : x >= width ? width - 1 : x;
  const uint8_t* point = src + (y * width + x) * 3;
  const int32_t grey = (77 * point[0] + 150 * point[1] + 29 * point[2]) / 256 + brightness;
  return grey < 0 ? 0 : grey > 255 ? 255 : grey;
}

static void cpu(const orrery_call* call, int64_t begin, int64_t end) {
  const int64_t height = call->inputs[0].sizes[0], width = call->inputs[0].sizes[1];
  const uint8_t* src = ORRERY_IN(uint8_t, call, 0);
  for (int64_t i = begin; i < end; ++i) {
    int32_t sum = 0;
    for (int64_t y = i / width - 1; y <= i / width + 1; ++y)
      for (int64_t x = i % width - 1; x <= i % width + 1; ++x)
        sum += light(src, height, width, y, x, (int32_t)ORRERY_INTEGER(call, 0));
    ORRERY_OUT(uint8_t, call, 0)[i] = (uint8_t)((2 * sum + 9) / 18);
  }
}

ORRERY_OP("image_pipeline", "Makes a picture grey, brightens and blurs it, in one pass.",
          .inputs = "src u8[height, width, 3]", .outputs = "dst u8[height, width]",
          .attributes = "brightness = 40: added to each point, of 255", .cpu = cpu, .flops = 90)
