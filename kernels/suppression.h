// Boxes that do not overlap better ones (greedy non-maximum suppression), for each class of each image by
// itself: of the boxes with a score above `least_score` the best is taken, all that overlap it by more than
// `overlap` (intersection over union) are left out, and so on until `most` are taken:
//   selected[n, c, i] = the i-th box taken of image n in class c, -1 after the last; counts[n, c] = how many
// Of equal scores the first box comes first; a score of NaN is above nothing. A box is two corners opposite
// each other, in any order (y1, x1, y2, x2 or x1, y1, x2, y2).
//   layout: boxes (images, boxes, 4), scores (images, classes, boxes), f32; selected (images, classes, most)
//   and
//           counts (images, classes), i64; all without gaps
// Areas are float64, so that every device takes the same boxes.
#pragma once

#include "kernels/host_device.h"
#include "kernels/row.h"

namespace orrery::kernels {

struct Suppression {
  static constexpr std::string_view kName = "suppression";
  struct Problem {
    int64_t images = 1, classes = 1, boxes = 1;  // images and boxes: at most, in a call
    int64_t most = 1;
    float overlap = 0.5F, least_score = 0.0F;
  };
  struct Args {
    Problem problem;  // with the images and boxes of the call
    const float* boxes = nullptr;
    const float* scores = nullptr;
    int64_t* selected = nullptr;
    int64_t* counts = nullptr;
  };
};

/// Whether two boxes overlap by more than so much.
ORRERY_HOST_DEVICE inline bool overlap_more(const float* a, const float* b, float overlap) {
  double areas = 0, both = 1;
  double of_a = 1, of_b = 1;
  for (int d = 0; d < 2; ++d) {
    const double a_low = a[d] < a[d + 2] ? a[d] : a[d + 2], a_high = a[d] < a[d + 2] ? a[d + 2] : a[d];
    const double b_low = b[d] < b[d + 2] ? b[d] : b[d + 2], b_high = b[d] < b[d + 2] ? b[d + 2] : b[d];
    const double low = a_low > b_low ? a_low : b_low, high = a_high < b_high ? a_high : b_high;
    both *= high > low ? high - low : 0.0;
    of_a *= a_high - a_low;
    of_b *= b_high - b_low;
  }
  areas = of_a + of_b - both;
  return both > 0 && both > static_cast<double>(overlap) * areas;
}

std::span<const Row<Suppression>> suppression_rows();
namespace cuda {
std::span<const Row<Suppression>> suppression_rows();
}
namespace ref {
void suppression(const Suppression::Args& args, const Launch& launch);
std::string legal(const Suppression::Problem& problem);
}  // namespace ref

}  // namespace orrery::kernels
