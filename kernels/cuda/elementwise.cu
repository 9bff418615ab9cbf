// Pointwise ops and row ops on (tokens, cols) f32 (elementwise.h); dst may be a source.
//   activations: kernels/activation.h
//   l2_normalise: x / max(|x|, 1e-12)
// Pointwise: a thread owns whole vectors (float4 where cols and addresses allow it, else float), which it
// reads before it writes them; a grid of x over columns and y over rows, both striding. Without broadcast
// everything is one row. l2_normalise: one block a row; a thread owns columns threadIdx.x + k blockDim.x, and
// the row is read once for each pass (from cache after the first). Bytes moved: 4 per element of each source
// and of dst.
#include <algorithm>

#include "kernels/cuda/device/activation.cuh"
#include "kernels/cuda/device/block_reduce.cuh"
#include "kernels/cuda/device/one_wave.cuh"
#include "kernels/cuda/device/vectors.cuh"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/tile_config.h"
#include "kernels/elementwise.h"

namespace orrery::kernels::cuda {
namespace {

using Function = Elementwise::Function;

constexpr int kThreads = 256;

__device__ inline float apply(Function function, float a, float b, float factor) {
  switch (function) {
    case Function::add:
      return a + b;
    case Function::mul:
      return a * b;
    case Function::scale:
      return a * factor;
    case Function::l2_normalise:
      return a;  // a row op
    default:
      const Epilogue epilogue = epilogue_of(function);
      const float value = activate<Math>(activation_of(epilogue), a);
      return is_gated(epilogue) ? value * b : value;
  }
}

struct PointwiseCall {
  Function function;
  const float* a;
  const float* b;  // a where the function takes one source
  float* dst;
  int64_t rows, vectors;  // of a row; b has one row
  float factor;
};

template <class Vector>
__global__ void __launch_bounds__(kThreads) pointwise_kernel(const PointwiseCall call) {
  pdl_wait();
  pdl_trigger_in_one_wave();
  const int64_t step = static_cast<int64_t>(gridDim.x) * kThreads;
  for (int64_t row = blockIdx.y; row < call.rows; row += gridDim.y) {
    const auto* a = reinterpret_cast<const Vector*>(call.a) + row * call.vectors;
    const auto* b = reinterpret_cast<const Vector*>(call.b);
    auto* dst = reinterpret_cast<Vector*>(call.dst) + row * call.vectors;
    for (int64_t i = blockIdx.x * static_cast<int64_t>(kThreads) + threadIdx.x; i < call.vectors; i += step) {
      dst[i] = map([&](float x, float y) { return apply(call.function, x, y, call.factor); }, a[i], b[i]);
    }
  }
}

__global__ void __launch_bounds__(1024) l2_normalise_kernel(const Elementwise::Args args) {
  __shared__ double shared[kWarp];
  pdl_wait();
  pdl_trigger_in_one_wave();
  const float* a = args.a + blockIdx.x * args.cols;
  float* dst = args.dst + blockIdx.x * args.cols;
  double squares = 0;  // float64: a square of float32 can be infinite, a norm cannot
  for (int64_t c = threadIdx.x; c < args.cols; c += blockDim.x)
    squares += static_cast<double>(a[c]) * static_cast<double>(a[c]);
  squares = block_reduce(squares, 0.0, Plus{}, shared);
  const double norm = fmax(sqrt(squares), 1e-12);
  for (int64_t c = threadIdx.x; c < args.cols; c += blockDim.x)
    dst[c] = static_cast<float>(static_cast<double>(a[c]) / norm);
}

void run_rows(const Elementwise::Args& args, const Launch& launch) {
  const int64_t threads = std::clamp<int64_t>((args.cols / 2 + kWarp - 1) / kWarp * kWarp, kWarp, 1024);
  launch_kernel(launch, l2_normalise_kernel, dim3(static_cast<unsigned>(args.tokens)),
                dim3(static_cast<unsigned>(threads)), 0, args);
}

void run(const Elementwise::Args& args, const Launch& launch) {
  if (args.tokens <= 0) return;
  if (args.function == Function::l2_normalise) return run_rows(args, launch);
  const int64_t rows = args.broadcast ? args.tokens : 1;
  const int64_t cols = args.broadcast ? args.cols : args.tokens * args.cols;
  const float* b = takes_two(args.function) ? args.b : args.a;
  const bool wide = cols % 4 == 0 && is_aligned(args.a) && is_aligned(b) && is_aligned(args.dst);
  const int64_t vectors = wide ? cols / 4 : cols;
  const PointwiseCall call{args.function, args.a, b, args.dst, rows, vectors, args.factor};
  const CardMachine& card = current_card();
  const int64_t most = card.multiprocessors * config_of(card).pointwise_blocks;
  const int64_t across = std::min((vectors + kThreads - 1) / kThreads, most);
  const int64_t down = std::min(rows, std::max<int64_t>(1, most / across));
  launch_kernel(launch, wide ? pointwise_kernel<float4> : pointwise_kernel<float>,
                dim3(static_cast<unsigned>(across), static_cast<unsigned>(down)), dim3(kThreads), 0, call);
}

}  // namespace

std::span<const Row<Elementwise>> elementwise_rows() {
  static const Row<Elementwise> rows[] = {
      {.name = "cuda.pointwise",
       .device = DeviceKind::cuda,
       .supports = on_any_machine<Elementwise, ref::legal>,
       .run = run},
  };
  return rows;
}

}  // namespace orrery::kernels::cuda
