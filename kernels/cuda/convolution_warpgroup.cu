// The row cuda.warpgroup of convolutions (convolution_channels.cuh): products of four warps that read shared
// memory themselves. With more than 64 outputs a block has two such groups, which share what is read of src.
#include "kernels/cuda/convolution_channels.cuh"
#include "kernels/cuda/device/warpgroup.cuh"

namespace orrery::kernels::cuda {
namespace channels {
namespace {

using OneGroup = Shape<1, 4>;
using TwoGroups = Shape<2, 6>;

#if !defined(__CUDA_ARCH__) || defined(__CUDA_ARCH_FEAT_SM90_ALL)

template <DType kType, class Shape, Reads kReads>
struct GroupSums {
  static constexpr DType type = kType;
  float at[kPlaces / 8][4] = {};

  __device__ static int group() { return static_cast<int>(threadIdx.x) / 128; }
  __device__ void meet() const {
    show_to_products();
    __syncthreads();
  }
  __device__ void begin(uint32_t stage) {
    const uint32_t outputs = stage + static_cast<uint32_t>(group() * 64 * kRowBytes),
                   places = stage + Shape::outputs * kRowBytes;
    const auto product = [&](int k) {
      const uint64_t a = descriptor(outputs + 32 * k);
      if constexpr (kReads == Reads::plain)
        begin_product<kType, true>(at, a, descriptor(places + kProduct * kRowBytes * k, kHalfBytes), true);
      else
        begin_product<kType, false>(at, a, descriptor(places + 32 * k), true);
    };
    before_products();
#pragma unroll
    for (int k = 0; k < kDepth / kProduct; ++k) product(k);
    end_of_products();
  }
  /// For the products of the step before.
  __device__ void wait() const { wait_for_products<1>(); }
  __device__ void finish() {
    wait_for_products<0>();
    settle(at);
  }
  /// visit(output, place, sum, that of the next place)
  template <class Visit>
  __device__ void each_pair(Visit&& visit) const {
    const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
#pragma unroll
    for (int n = 0; n < kPlaces / 8; ++n)
#pragma unroll
      for (int half = 0; half < 2; ++half)
        visit(warp * 16 + lane / 4 + 8 * half, 8 * n + lane % 4 * 2, at[n][2 * half], at[n][2 * half + 1]);
  }
};

template <DType kType, class Shape, Reads kReads>
__device__ void convolve_in_groups(const Convolving& c, const Turned& turned) {
  convolve<Shape, GroupSums<kType, Shape, kReads>, kReads>(c, turned);
}

#else

template <DType kType, class Shape, Reads kReads>
__device__ void convolve_in_groups(const Convolving&, const Turned&) {
}  // no card that runs this is given the row

#endif

template <DType kType, class Shape, Reads kReads>
__global__ void __launch_bounds__(Shape::threads, 1)
    warpgroup_kernel(const __grid_constant__ Convolving c, const __grid_constant__ Turned turned) {
  convolve_in_groups<kType, Shape, kReads>(c, turned);
}

/// Two groups, where there are outputs for both.
template <class Function>
auto with_shape(int64_t outputs, Function&& function) {
  if (outputs > OneGroup::outputs) return function.template operator()<TwoGroups>();
  return function.template operator()<OneGroup>();
}

template <DType kType>
void start(const Convolution::Args& args, const Launch& launch) {
  const Turned turned = turn_operands(args, launch);
  with_reads(args, [&]<Reads kReads>() {
    with_shape(args.problem.outputs, [&]<class Shape>() {
      start_blocks<Shape>(warpgroup_kernel<kType, Shape, kReads>, Convolving(args), turned, launch);
    });
  });
}

void run(const Convolution::Args& args, const Launch& launch) {
  if (args.problem.batch <= 0) return;
  args.problem.src == DType::f16 ? start<DType::f16>(args, launch) : start<DType::bf16>(args, launch);
}

std::string supports(const Convolution::Problem& problem, const Machine& machine) {
  if (std::string reason = refusal(problem); !reason.empty()) return reason;
  if (std::string reason = without_warpgroups(machine.card); !reason.empty()) return reason;
  const size_t bytes =
      with_shape(problem.outputs, [&]<class Shape>() { return Shape::shared_bytes(problem.window.taps()); });
  return without_shared(bytes, machine.card);
}

}  // namespace
}  // namespace channels

Row<Convolution> warpgroup_convolution_row() {
  return channels::row_of("cuda.warpgroup", channels::supports, channels::run);
}

}  // namespace orrery::kernels::cuda
