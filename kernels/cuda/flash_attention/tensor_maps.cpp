#include "kernels/cuda/flash_attention/tensor_maps.h"

#include "kernels/cuda/tensor_map.h"

namespace orrery::kernels::cuda::flash {
namespace {

/// A dim of a tensor, and how much of it a box has.
struct MapDim {
  int64_t extent, stride;  // stride: in elements
  int box;
};

CUtensorMap make_map(DType dtype, const void* data, int64_t head_dim, const MapDim (&outer)[3]) {
  cuuint64_t sizes[4] = {static_cast<cuuint64_t>(head_dim)}, bytes[3];
  cuuint32_t box[4] = {64};
  for (int d = 0; d < 3; ++d) {
    sizes[d + 1] = static_cast<cuuint64_t>(outer[d].extent);
    // A dim of one element lies anywhere.
    bytes[d] = static_cast<cuuint64_t>(outer[d].extent == 1 ? head_dim : outer[d].stride) * 2;
    box[d + 1] = static_cast<cuuint32_t>(outer[d].box);
  }
  return make_tensor_map(
      dtype == DType::f16 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16 : CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, data, sizes,
      bytes, box);
}

/// Of so many tokens of one head.
CUtensorMap make_head_map(DType dtype, const void* data, const HeadStrides& strides, int64_t head_dim,
                          int64_t tokens, int64_t heads, int64_t batch, int box_tokens) {
  return make_map(dtype, data, head_dim,
                  {{tokens, strides.token, box_tokens}, {heads, strides.head, 1}, {batch, strides.batch, 1}});
}

}  // namespace

TensorMaps make_maps(const FlashAttention::Args& args, int joined, int queries, int keys) {
  const FlashAttention::Problem& problem = args.problem;
  const HeadStrides& strides = args.query_strides;
  TensorMaps maps{};
  if (joined > 0)
    maps.query = make_map(problem.dtype, args.query, problem.head_dim,
                          {{problem.heads, strides.head, joined},
                           {args.queries, strides.token, queries},
                           {args.batch, strides.batch, 1}});
  else
    maps.query = make_head_map(problem.dtype, args.query, strides, problem.head_dim, args.queries,
                               problem.heads, args.batch, queries);
  if (args.keys == 0) return maps;
  maps.key = make_head_map(problem.dtype, args.key, args.key_strides, problem.head_dim, args.keys,
                           problem.kv_heads, args.batch, keys);
  maps.value = make_head_map(problem.dtype, args.value, args.value_strides, problem.head_dim, args.keys,
                             problem.kv_heads, args.batch, keys);
  return maps;
}

GradMaps make_grad_maps(const FlashAttentionBackward::Args& args, int queries, int keys) {
  const FlashAttention::Args& forward = args.forward;
  const FlashAttention::Problem& problem = forward.problem;
  GradMaps maps{};
  if (forward.queries == 0 || forward.keys == 0) return maps;
  const TensorMaps of_forward = make_maps(forward, 0, queries, keys);
  maps.query = of_forward.query, maps.key = of_forward.key, maps.value = of_forward.value;
  maps.grad_out = make_head_map(problem.dtype, args.grad_out, args.grad_out_strides, problem.head_dim,
                                forward.queries, problem.heads, forward.batch, queries);
  return maps;
}

}  // namespace orrery::kernels::cuda::flash
