#include "engine/models/blocks.h"

#include <fmt/format.h>

#include <cmath>

namespace orrery::models {
namespace {

ValueId rms_norm(GraphBuilder& builder, ValueId src, const std::string& tensor, const DecoderSizes& sizes) {
  const ValueId weight = builder.weight("norm.weight", tensor + ".weight", {sizes.width});
  return builder.add("rms_norm", "norm", {src, weight}, {{"eps", sizes.eps}});
}

ValueId rope(GraphBuilder& builder, const std::string& name, ValueId src, int64_t heads,
             const DecoderSizes& sizes) {
  const RopeSettings& rope = sizes.rope;
  ValueId factors;
  if (!rope.factors.empty()) factors = builder.weight("rope_factors", rope.factors, {rope.dims / 2});
  return builder.add("rope", name, {src, builder.input(graph::step_input::positions), factors},
                     {{"style", rope.style},
                      {"heads", heads},
                      {"head_dim", sizes.head_dim},
                      {"rope_dims", rope.dims},
                      {"base", rope.base},
                      {"frequency_scale", rope.frequency_scale}});
}

DecoderLayer attention(GraphBuilder& builder, ValueId stream, int64_t layer, const DecoderSizes& sizes,
                       const DecoderTensors& tensors) {
  const int64_t query_width = sizes.heads * sizes.head_dim, key_width = sizes.kv_heads * sizes.head_dim;
  builder.enter(fmt::format("layers.{}.attention", layer));
  const ValueId normed = rms_norm(builder, stream, tensors.attention_norm, sizes);
  const ValueId query = builder.linear(normed, {"q_proj", tensors.query, query_width, sizes.width});
  const ValueId key = builder.linear(normed, {"k_proj", tensors.key, key_width, sizes.width});
  const ValueId value = builder.linear(normed, {"v_proj", tensors.value, key_width, sizes.width});
  const ValueId rotated_query = rope(builder, "q_rope", query, sizes.heads, sizes);
  const ValueId rotated_key = rope(builder, "k_rope", key, sizes.kv_heads, sizes);
  const ValueId before = builder.state("kv_cache", layer, sizes.kv_heads, sizes.head_dim);
  const ValueId state = builder.add("kv_append", "kv_append", {before, rotated_key, value});
  const ValueId mixed = builder.add("attention", "sdpa", {rotated_query, state},
                                    {{"heads", sizes.heads},
                                     {"kv_heads", sizes.kv_heads},
                                     {"scale", 1.0 / std::sqrt(static_cast<double>(sizes.head_dim))}});
  const ValueId out = builder.linear(mixed, {"o_proj", tensors.attention_output, sizes.width, query_width});
  return {builder.add("add", "residual", {stream, out}), state};
}

ValueId gated_mlp(GraphBuilder& builder, ValueId stream, int64_t layer, const DecoderSizes& sizes,
                  const DecoderTensors& tensors) {
  builder.enter(fmt::format("layers.{}.mlp", layer));
  const ValueId normed = rms_norm(builder, stream, tensors.mlp_norm, sizes);
  const ValueId gate = builder.linear(normed, {"gate_proj", tensors.gate, sizes.mlp_width, sizes.width});
  const ValueId up = builder.linear(normed, {"up_proj", tensors.up, sizes.mlp_width, sizes.width});
  const ValueId opened = builder.add("silu", "act", {gate});
  const ValueId gated = builder.add("mul", "gate", {opened, up});
  const ValueId down = builder.linear(gated, {"down_proj", tensors.down, sizes.width, sizes.mlp_width});
  return builder.add("add", "residual", {stream, down});
}

}  // namespace

DecoderLayer decoder_layer(GraphBuilder& builder, ValueId stream, int64_t layer, const DecoderSizes& sizes,
                           const DecoderTensors& tensors) {
  const DecoderLayer attended = attention(builder, stream, layer, sizes, tensors);
  return {gated_mlp(builder, attended.stream, layer, sizes, tensors), attended.state};
}

std::vector<ValueId> decoder_head(GraphBuilder& builder, ValueId stream, const DecoderSizes& sizes,
                                  const HeadTensors& tensors) {
  builder.enter("output");
  const ValueId rows =
      builder.add("select_rows", "select_rows", {stream, builder.input(graph::step_input::output_rows)});
  const ValueId normed = rms_norm(builder, rows, tensors.norm, sizes);
  const ValueId logits = builder.linear(normed, {"lm_head", tensors.output, tensors.vocabulary, sizes.width});
  builder.enter("sampler");
  return {builder.add("sample", "sample", {logits}), logits};
}

}  // namespace orrery::models
