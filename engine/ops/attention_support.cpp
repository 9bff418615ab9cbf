#include "engine/ops/attention_support.h"

#include <cmath>

namespace orrery::ops {

Result<int64_t> head_dim_of(const NodeView& view, const Matrix& query) {
  ORRERY_TRY(expect_positive(*view.attributes, "heads"));
  ORRERY_TRY(expect_positive(*view.attributes, "kv_heads"));
  const int64_t heads = integer(*view.attributes, "heads"), kv_heads = integer(*view.attributes, "kv_heads");
  if (heads % kv_heads != 0)
    return bad_attribute(fmt::format("heads is {}; kv_heads {} does not divide it", heads, kv_heads));
  if (query.cols % heads != 0)
    return mismatch(
        "query", fmt::format("query is {}, which {} heads do not divide", to_string(*view.inputs[0]), heads));
  if (const double scale = real(*view.attributes, "scale"); !std::isfinite(scale))
    return bad_attribute(fmt::format("scale is {}; it must be finite", scale));
  return query.cols / heads;
}

Cost cost_attention(const NodeView& view, const Bindings& bindings, double keys) {
  const double queries = count(view.inputs[0]->shape, bindings);
  const double heads = static_cast<double>(integer(*view.attributes, "heads"));
  const double scores = rows_of(*view.inputs[0], bindings) * heads * keys;
  return {4 * queries * keys + 5 * scores,
          bytes(*view.inputs[0], bindings) + bytes(*view.outputs[0], bindings)};
}

kernels::Attention::Args attention_arguments(LowerContext& context, const graph::Node& node) {
  kernels::Attention::Args args;
  args.problem.heads = integer(node.attributes, "heads");
  args.problem.kv_heads = integer(node.attributes, "kv_heads");
  args.query_stride = args.dst_stride = cols_of(context, node.inputs[0]);
  args.problem.head_dim = args.query_stride / args.problem.heads;
  args.problem.tokens = context.max_tokens();
  args.problem.precision = context.precision(node);
  args.scale = static_cast<float>(real(node.attributes, "scale"));
  return args;
}

}  // namespace orrery::ops
