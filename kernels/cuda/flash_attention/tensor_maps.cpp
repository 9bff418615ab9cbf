#include "kernels/cuda/flash_attention/tensor_maps.h"

#include "kernels/cuda/tensor_map.h"

namespace orrery::kernels::cuda::flash {
namespace {

constexpr int kDims = 4;

CUtensorMap make_map(DType dtype, const void* data, const HeadStrides& strides, int64_t head_dim,
                     int64_t tokens, int64_t heads, int64_t batch, int rows) {
  const int64_t extents[kDims] = {head_dim, tokens, heads, batch};
  const int64_t apart[kDims] = {1, strides.token, strides.head, strides.batch};
  cuuint64_t sizes[kDims], bytes[kDims - 1];
  for (int d = 0; d < kDims; ++d) {
    sizes[d] = static_cast<cuuint64_t>(extents[d]);
    if (d == 0) continue;
    // A dim of one element lies anywhere.
    const int64_t stride = extents[d] == 1 ? head_dim : apart[d];
    bytes[d - 1] = static_cast<cuuint64_t>(stride) * 2;
  }
  const cuuint32_t box[kDims] = {64, static_cast<cuuint32_t>(rows), 1, 1};
  return make_tensor_map(
      dtype == DType::f16 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16 : CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, data, sizes,
      bytes, box);
}

}  // namespace

TensorMaps make_maps(const FlashAttention::Args& args, int query_rows, int key_rows) {
  const FlashAttention::Problem& problem = args.problem;
  TensorMaps maps{};
  maps.query = make_map(problem.dtype, args.query, args.query_strides, problem.head_dim, args.queries,
                        problem.heads, args.batch, query_rows);
  if (args.keys == 0) return maps;
  maps.key = make_map(problem.dtype, args.key, args.key_strides, problem.head_dim, args.keys,
                      problem.kv_heads, args.batch, key_rows);
  maps.value = make_map(problem.dtype, args.value, args.value_strides, problem.head_dim, args.keys,
                        problem.kv_heads, args.batch, key_rows);
  return maps;
}

GradMaps make_grad_maps(const FlashAttentionBackward::Args& args, int query_rows, int key_rows) {
  const FlashAttention::Args& forward = args.forward;
  const FlashAttention::Problem& problem = forward.problem;
  GradMaps maps{};
  if (forward.queries == 0 || forward.keys == 0) return maps;
  const TensorMaps of_forward = make_maps(forward, query_rows, key_rows);
  maps.query = of_forward.query, maps.key = of_forward.key, maps.value = of_forward.value;
  maps.grad_out = make_map(problem.dtype, args.grad_out, args.grad_out_strides, problem.head_dim,
                           forward.queries, problem.heads, forward.batch, query_rows);
  return maps;
}

}  // namespace orrery::kernels::cuda::flash
