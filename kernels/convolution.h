// Convolutions of images of channels over up to three spatial dims (window.h), in groups of channels:
//   dst[n, g, o, p] = bias[g, o] + sum over c, k of src[n, g, c, p * stride - padding + k * dilation]
//                     * weight[g, o, c, k]
// and their transposes, in which the places change sides:
//   dst[n, g, o, q] = bias[g, o] + sum over c, k of src[n, g, c, p] * weight[g, c, o, k],
//                     where p * stride - padding + k * dilation = q
//   layout: src (batch, groups, channels, spatial), dst (batch, groups, outputs, spatial), weight (groups,
//           outputs, channels, kernel), or (groups, channels, outputs, kernel) transposed; all without gaps
// What lies outside of src, or between the elements of one that is transposed, is 0 and is multiplied as
// such: an infinite weight gives NaN there. The operands have any of the three types of floats; products and
// sums are float32. These are cross-correlations, as in all libraries of neural networks: Dumoulin and Visin,
// "A guide to convolution arithmetic for deep learning" (2016).
#pragma once

#include "kernels/row.h"
#include "kernels/window.h"

namespace orrery::kernels {

struct Convolution {
  static constexpr std::string_view kName = "convolution";
  struct Problem {
    DType src = DType::f32, weight = DType::f32, bias = DType::f32, dst = DType::f32;
    bool transposed = false;
    int64_t batch = 1, groups = 1;      // batch: at most, in a call
    int64_t channels = 1, outputs = 1;  // of a group: of src and of dst
    int64_t src_size[kSpatial] = {1, 1, 1};
    int64_t dst_size[kSpatial] = {1, 1, 1};  // any: what follows from src, more or less
    Window window = {};

    /// Products of one sum.
    ORRERY_HOST_DEVICE int64_t depth() const { return channels * window.taps(); }
    /// The element of src that a tap contributes to a place of dst; -1: there is none.
    ORRERY_HOST_DEVICE int64_t from(int dim, int64_t place, int64_t tap) const {
      return transposed ? window.read_by(dim, place, tap, src_size[dim])
                        : window.reads(dim, place, tap, src_size[dim]);
    }
    int64_t src_elements() const { return batch * groups * channels * volume(src_size); }
    int64_t dst_elements() const { return batch * groups * outputs * volume(dst_size); }
    int64_t weight_elements() const { return groups * outputs * depth(); }
  };
  struct Args {
    Problem problem;  // with the batch of the call
    const void* src = nullptr;
    const void* weight = nullptr;
    const void* bias = nullptr;  // null: none
    void* dst = nullptr;
  };
};

std::span<const Row<Convolution>> convolution_rows();
namespace cuda {
std::span<const Row<Convolution>> convolution_rows();
}
namespace ref {
void convolution(const Convolution::Args& args, const Launch& launch);
/// Every step-th row of dst along the last dim alone, from the row step - 1 on: so much of a large call can
/// be looked at.
void convolution_some(const Convolution::Args& args, int64_t step);
std::string legal(const Convolution::Problem& problem);
}  // namespace ref

}  // namespace orrery::kernels
