// Rows of Convolution (convolution.h), fastest first; convolution_tiles.cu has those that multiply matrices.
//   cuda.direct  any problem: a thread owns a place of dst and one of its outputs, or four neighbouring ones,
//                and walks channels and taps. Neighbouring threads own neighbouring places, so that they read
//                neighbouring elements of src, and the same weight together. Right where a group has few
//                channels or outputs: of a depthwise convolution there is no matrix, and src is the traffic.
//   Sums are float32 in the order of channels, then taps, whatever the grid.
// Preconditions: all indices fit into 32 bits (refusal_of_sizes).
// Bytes moved: src once from memory, once a tap from L1; once per four outputs from L2. Weights, dst once.
#include <algorithm>
#include <limits>

#include "kernels/cuda/convolution_places.cuh"
#include "kernels/cuda/device/one_wave.cuh"

namespace orrery::kernels::cuda {
namespace {

constexpr int kDirectThreads = 128;
constexpr int kOutputsOfThread = 4;

/// An element of a type that is known when compiled, or of any.
struct AnyType {};
template <class T>
__device__ inline float number_at(DType dtype, const void* base, int64_t index) {
  if constexpr (std::is_same_v<T, AnyType>)
    return load_element<float>(dtype, base, index);
  else
    return static_cast<float>(static_cast<const T*>(base)[index]);
}

/// kOutputs of one place, from `output` on; those after the last are computed of the last again.
template <class T, bool kTransposed, int kOutputs>
__device__ inline void one_place(const Convolving& c, int n, int group, int output, int place) {
  const int x0 = start_of<kTransposed>(c, 2, place % c.dst[2]);
  const int y0 = start_of<kTransposed>(c, 1, place / c.dst[2] % c.dst[1]);
  const int z0 = start_of<kTransposed>(c, 0, place / (c.dst[2] * c.dst[1]));
  int first[kOutputs];  // weights of channel 0
#pragma unroll
  for (int i = 0; i < kOutputs; ++i) {
    const int own = min(output + i, c.outputs - 1);
    first[i] = kTransposed ? (group * c.channels * c.outputs + own) * c.taps
                           : (group * c.outputs + own) * c.channels * c.taps;
  }
  const int apart = kTransposed ? c.outputs * c.taps : c.taps;  // weights of the next channel
  float sums[kOutputs] = {};
  for (int channel = 0; channel < c.channels; ++channel) {
    const int plane = ((n * c.groups + group) * c.channels + channel) * c.src_volume;
    int tap = channel * apart;
    for (int kz = 0; kz < c.kernel[0]; ++kz) {
      const int z = element_at<kTransposed>(c, 0, z0, kz * c.dilation[0]);
      for (int ky = 0; ky < c.kernel[1]; ++ky) {
        const int y = element_at<kTransposed>(c, 1, y0, ky * c.dilation[1]);
        for (int kx = 0; kx < c.kernel[2]; ++kx, ++tap) {
          const int x = element_at<kTransposed>(c, 2, x0, kx * c.dilation[2]);
          const bool there = (z | y | x) >= 0;
          const float value =
              there ? number_at<T>(c.src_type, c.from, plane + (z * c.src[1] + y) * c.src[2] + x) : 0.0F;
#pragma unroll
          for (int i = 0; i < kOutputs; ++i)
            sums[i] = fmaf(value, number_at<T>(c.weight_type, c.weight, first[i] + tap), sums[i]);
        }
      }
    }
  }
#pragma unroll
  for (int i = 0; i < kOutputs; ++i)
    if (output + i < c.outputs) {
      const int channel = group * c.outputs + output + i;
      store_element(c.dst_type, sums[i] + c.bias_of(channel), c.to,
                    (n * c.groups * c.outputs + channel) * c.dst_volume + place);
    }
}

template <class T, bool kTransposed, int kOutputs>
__global__ void __launch_bounds__(kDirectThreads) direct_kernel(const Convolving c, int64_t items) {
  pdl_wait();
  pdl_trigger_in_one_wave();
  const int blocks = (c.outputs + kOutputs - 1) / kOutputs;
  const int64_t step = static_cast<int64_t>(gridDim.x) * kDirectThreads;
  for (int64_t item = static_cast<int64_t>(blockIdx.x) * kDirectThreads + threadIdx.x; item < items;
       item += step) {
    const int place = static_cast<int>(item % c.dst_volume);
    const int rest = static_cast<int>(item / c.dst_volume);
    const int group = rest / blocks % c.groups, n = rest / blocks / c.groups;
    one_place<T, kTransposed, kOutputs>(c, n, group, rest % blocks * kOutputs, place);
  }
}

template <class T, bool kTransposed>
void start(const Convolving& c, const Launch& launch) {
  const bool one = c.outputs == 1;
  const int64_t blocks_of_outputs = one ? 1 : (c.outputs + kOutputsOfThread - 1) / kOutputsOfThread;
  const int64_t items = int64_t{c.batch} * c.groups * blocks_of_outputs * c.dst_volume;
  const dim3 grid = pointwise_grid(items, kDirectThreads);
  if (one)
    launch_kernel(launch, direct_kernel<T, kTransposed, 1>, grid, dim3(kDirectThreads), 0, c, items);
  else
    launch_kernel(launch, direct_kernel<T, kTransposed, kOutputsOfThread>, grid, dim3(kDirectThreads), 0, c,
                  items);
}

template <class T>
void start(const Convolution::Args& args, const Launch& launch) {
  const Convolving c(args);
  args.problem.transposed ? start<T, true>(c, launch) : start<T, false>(c, launch);
}

void run(const Convolution::Args& args, const Launch& launch) {
  if (args.problem.batch <= 0) return;
  if (args.problem.src != args.problem.weight) return start<AnyType>(args, launch);
  switch (args.problem.src) {
    case DType::f16:
      return start<__half>(args, launch);
    case DType::bf16:
      return start<__nv_bfloat16>(args, launch);
    default:
      return start<float>(args, launch);
  }
}

std::string supports(const Convolution::Problem& problem, const Machine&) {
  std::string reason = ref::legal(problem);
  return reason.empty() ? refusal_of_sizes(problem) : reason;
}

}  // namespace

std::string refusal_of_sizes(const Convolution::Problem& problem) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  for (const int64_t elements : {problem.src_elements(), problem.dst_elements(), problem.weight_elements()})
    if (elements > kMost) return std::to_string(elements) + " elements; indices have 31 bits";
  for (int d = 0; d < kSpatial; ++d) {
    const Window& window = problem.window;
    const int64_t reach = window.padding[d] + window.extent(d) +
                          std::max(problem.src_size[d], problem.dst_size[d] * window.stride[d]);
    if (reach >= kNowhere) return std::to_string(reach) + " places with their padding; they have 30 bits";
  }
  return {};
}

std::span<const Row<Convolution>> convolution_rows() {
  static const Row<Convolution> rows[] = {
      warpgroup_convolution_row(),
      channels_convolution_row(),
      tensor_convolution_row(),
      tiled_convolution_row(),
      {.name = "cuda.direct", .device = DeviceKind::cuda, .supports = supports, .run = run},
  };
  return rows;
}

}  // namespace orrery::kernels::cuda
