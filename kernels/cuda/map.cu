// Elementwise functions of one operand (map.h).
// A thread owns elements threadIdx.x + k gridDim.x blockDim.x. The function is known when compiled: one
// kernel a function for floats and for whole numbers, so that no element waits for a switch.
// Bytes moved: an element of src and of dst each.
#include "kernels/cuda/device/element.cuh"
#include "kernels/cuda/device/one_wave.cuh"
#include "kernels/cuda/launch.h"
#include "kernels/map.h"

namespace orrery::kernels::cuda {
namespace {

constexpr int kThreads = 256;

template <Map::Function kFunction, class T>
__global__ void __launch_bounds__(kThreads) map_kernel(const Map::Args args) {
  pdl_wait();
  pdl_trigger_in_one_wave();
  const int64_t step = static_cast<int64_t>(gridDim.x) * kThreads;
  for (int64_t i = blockIdx.x * static_cast<int64_t>(kThreads) + threadIdx.x; i < args.count; i += step)
    store_element(args.problem.dst, mapped<kFunction>(load_element<T>(args.problem.src, args.src, i)),
                  args.dst, i);
}

void run(const Map::Args& args, const Launch& launch) {
  if (args.count <= 0) return;
  const dim3 grid = pointwise_grid(args.count, kThreads);
  with_map_function(args.problem.function, [&](auto constant) {
    constexpr Map::Function kFunction = decltype(constant)::value;
    constexpr Map::Kind kKind = info_of(kFunction).kind;
    constexpr bool kWhole = kKind == Map::Kind::bits || kKind == Map::Kind::logical;
    constexpr bool kReal = kKind == Map::Kind::real || kKind == Map::Kind::test;
    const auto start = [&](auto kernel) { launch_kernel(launch, kernel, grid, dim3(kThreads), 0, args); };
    if constexpr (!kWhole)
      if (is_float(args.problem.src)) return start(map_kernel<kFunction, float>);
    if constexpr (!kReal) start(map_kernel<kFunction, int64_t>);
  });
}

}  // namespace

std::span<const Row<Map>> map_rows() {
  static const Row<Map> rows[] = {
      {.name = "cuda.map",
       .device = DeviceKind::cuda,
       .supports = on_any_machine<Map, ref::legal>,
       .run = run},
  };
  return rows;
}

}  // namespace orrery::kernels::cuda
