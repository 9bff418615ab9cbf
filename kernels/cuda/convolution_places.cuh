// What the rows of Convolution share on the card: where elements of src lie, and the problem in 32 bits.
#pragma once

#include "kernels/convolution.h"
#include "kernels/cuda/device/element.cuh"
#include "kernels/cuda/launch.h"

namespace orrery::kernels::cuda {

/// Steps of a tap that there is not, and the start of a window that there is not: outside, whichever other is
/// added or taken away, and together too.
constexpr int kNowhere = (1 << 30) - 1, kNoWindow = -(1 << 30);

/// A problem and the operands of its call; sizes fit into 32 bits (refusal_of_sizes).
struct Convolving {
  int batch, groups, channels, outputs, taps;
  int src[kSpatial], dst[kSpatial], kernel[kSpatial], stride[kSpatial], padding[kSpatial], dilation[kSpatial];
  int src_volume, dst_volume;
  DType src_type, weight_type, bias_type, dst_type;
  const void *from, *weight, *bias;
  void* to;

  explicit Convolving(const Convolution::Args& args)
      : batch(static_cast<int>(args.problem.batch)),
        groups(static_cast<int>(args.problem.groups)),
        channels(static_cast<int>(args.problem.channels)),
        outputs(static_cast<int>(args.problem.outputs)),
        taps(static_cast<int>(args.problem.window.taps())),
        src_volume(static_cast<int>(volume(args.problem.src_size))),
        dst_volume(static_cast<int>(volume(args.problem.dst_size))),
        src_type(args.problem.src),
        weight_type(args.problem.weight),
        bias_type(args.problem.bias),
        dst_type(args.problem.dst),
        from(args.src),
        weight(args.weight),
        bias(args.bias),
        to(args.dst) {
    for (int d = 0; d < kSpatial; ++d) {
      src[d] = static_cast<int>(args.problem.src_size[d]);
      dst[d] = static_cast<int>(args.problem.dst_size[d]);
      kernel[d] = static_cast<int>(args.problem.window.kernel[d]);
      stride[d] = static_cast<int>(args.problem.window.stride[d]);
      padding[d] = static_cast<int>(args.problem.window.padding[d]);
      dilation[d] = static_cast<int>(args.problem.window.dilation[d]);
    }
  }

  __device__ float bias_of(int output) const {
    return bias != nullptr ? load_element<float>(bias_type, bias, output) : 0.0F;
  }
};

/// Where the window of a place begins, by dim; of a transpose, what its taps are taken from.
template <bool kTransposed>
__device__ inline int start_of(const Convolving& c, int dim, int place) {
  return kTransposed ? place + c.padding[dim] : place * c.stride[dim] - c.padding[dim];
}

/// The element that a tap `step` from the start reads; negative: there is none.
template <bool kTransposed>
__device__ inline int element_at(const Convolving& c, int dim, int start, int step) {
  if constexpr (kTransposed) {
    const int at = start - step;
    if (at < 0) return -1;
    const int element = c.stride[dim] == 1 ? at : at / c.stride[dim];
    return element * c.stride[dim] == at && element < c.src[dim] ? element : -1;
  } else {
    const int at = start + step;
    return static_cast<unsigned>(at) < static_cast<unsigned>(c.src[dim]) ? at : -1;
  }
}

/// Empty where all indices, and places with their padding, fit into 32 bits.
std::string refusal_of_sizes(const Convolution::Problem& problem);

/// Empty where blocks of 64 outputs of 128 places pay.
std::string refusal_of_tiles(const Convolution::Problem& problem);

/// convolution_warpgroup.cu
Row<Convolution> warpgroup_convolution_row();
/// convolution_channels.cu
Row<Convolution> channels_convolution_row();
/// convolution_tiles.cu
Row<Convolution> tensor_convolution_row();
Row<Convolution> tiled_convolution_row();

}  // namespace orrery::kernels::cuda
