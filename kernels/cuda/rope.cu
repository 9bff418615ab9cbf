// Rotary position embedding (rope.h):
//   turns(t, i) = positions[t] scaled_turns(base^(-2i / rope_dims) / 2 pi) / frequency_factors[i]
//   (x, y) -> attention_factor (x cos - y sin, x sin + y cos) of the pairs (2i, 2i + 1) or (i, i + rope_dims
//   / 2) src, dst (tokens, heads * head_dim) f32 with row strides, any alignment; dst may be src
// A block owns one token and a range of its heads. Its threads first compute the sines and cosines of up to
// kTable pairs into shared memory, then each takes (head, pair) by (head, pair). A pair is read and written
// by one thread, so in place is right. Turns are float64 up to their reduction to (-1, 1] half turns: at
// position 131,072 a float32 angle would be wrong by 4e-3. Bytes moved: 8 per element.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "kernels/cuda/device/one_wave.cuh"
#include "kernels/cuda/launch.h"
#include "kernels/rope.h"

namespace orrery::kernels::cuda {
namespace {

constexpr int kTable = 512;
constexpr int kThreads = 256;

struct RopeCall {
  Rope::Args args;
  double log2_step;  // base^(-2i / rope_dims) = 2^(i * log2_step)
  int64_t heads_a_block;
};

__device__ inline float2 cos_sin(const RopeCall& call, int64_t token, int64_t pair) {
  const float* factors = call.args.frequency_factors;
  const auto index = static_cast<double>(pair);
  const double unscaled = exp2(index * call.log2_step) / (2.0 * std::numbers::pi);
  double half_turns = 2.0 * static_cast<double>(call.args.positions[token]) *
                      scaled_turns(call.args.scaling, index, unscaled);
  if (factors != nullptr) half_turns /= static_cast<double>(factors[pair]);
  const auto reduced = static_cast<float>(half_turns - 2.0 * rint(0.5 * half_turns));
  float2 result;
  sincospif(reduced, &result.y, &result.x);
  result.x *= call.args.scaling.attention_factor;
  result.y *= call.args.scaling.attention_factor;
  return result;
}

__global__ void __launch_bounds__(kThreads) rope_kernel(const RopeCall call) {
  __shared__ float2 table[kTable];
  pdl_wait();
  pdl_trigger_in_one_wave();
  const Rope::Args& args = call.args;
  const int64_t token = blockIdx.x;
  const int64_t first_head = blockIdx.y * call.heads_a_block;
  const auto heads = static_cast<int>(min(call.heads_a_block, args.heads - first_head));
  const int64_t offset = first_head * args.head_dim;
  const float* src = args.src + token * args.src_stride + offset;
  float* dst = args.dst + token * args.dst_stride + offset;
  const int64_t pairs = args.rope_dims / 2;
  const bool interleaved = args.style == Rope::Style::interleaved;

  for (int64_t begin = 0; begin < pairs; begin += kTable) {
    const auto count = static_cast<int>(min(static_cast<int64_t>(kTable), pairs - begin));
    __syncthreads();
    for (int i = threadIdx.x; i < count; i += kThreads) table[i] = cos_sin(call, token, begin + i);
    __syncthreads();
    for (int item = threadIdx.x; item < heads * count; item += kThreads) {
      const int head = item / count;
      const int i = item - head * count;
      const int64_t pair = begin + i;
      const int64_t first = head * args.head_dim + (interleaved ? 2 * pair : pair);
      const int64_t second = interleaved ? first + 1 : first + pairs;
      const float2 turn = table[i];
      const float x = src[first];
      const float y = src[second];
      dst[first] = x * turn.x - y * turn.y;
      dst[second] = x * turn.y + y * turn.x;
    }
  }
  if (src == dst) return;
  const auto rest = static_cast<int>(args.head_dim - args.rope_dims);
  for (int item = threadIdx.x; item < heads * rest; item += kThreads) {
    const int head = item / rest;
    const int64_t at = head * args.head_dim + args.rope_dims + (item - head * rest);
    dst[at] = src[at];
  }
}

void run(const Rope::Args& args, const Launch& launch) {
  if (args.tokens <= 0 || args.heads <= 0) return;
  RopeCall call{.args = args,
                .log2_step = args.rope_dims > 0 ? -2.0 * std::log2(static_cast<double>(args.base)) /
                                                      static_cast<double>(args.rope_dims)
                                                : 0.0,
                .heads_a_block = args.heads};
  // Few tokens: about 256 pairs a block, so that a token's heads are turned at the same time.
  if (args.tokens < 256) call.heads_a_block = std::max<int64_t>(1, 2 * kThreads / args.head_dim);
  call.heads_a_block = std::max(call.heads_a_block, (args.heads + 65534) / 65535);
  const int64_t parts = (args.heads + call.heads_a_block - 1) / call.heads_a_block;
  launch_kernel(launch, rope_kernel, dim3(static_cast<unsigned>(args.tokens), static_cast<unsigned>(parts)),
                dim3(kThreads), 0, call);
}

}  // namespace

std::span<const Row<Rope>> rope_rows() {
  static const Row<Rope> rows[] = {
      {.name = "cuda.rope",
       .device = DeviceKind::cuda,
       .supports = on_any_machine<Rope, ref::legal>,
       .run = run},
  };
  return rows;
}

}  // namespace orrery::kernels::cuda
