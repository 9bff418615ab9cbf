#include "engine/models/encoder_blocks.h"

#include <fmt/format.h>

#include <cmath>

namespace orrery::models {

EncoderKeys gguf_encoder_keys() {
  return {"block_count",         "embedding_length", "attention.head_count",
          "feed_forward_length", "context_length",   "attention.layer_norm_epsilon"};
}

Result<EncoderSizes> read_encoder_sizes(const Config& config, const EncoderKeys& keys) {
  EncoderSizes sizes;
  ORRERY_ASSIGN(sizes.layers, config.size(keys.layers));
  ORRERY_ASSIGN(sizes.width, config.size(keys.width));
  ORRERY_ASSIGN(sizes.heads, config.size(keys.heads));
  ORRERY_ASSIGN(sizes.mlp_width, config.size(keys.mlp_width));
  ORRERY_ASSIGN(sizes.positions, config.size(keys.positions));
  ORRERY_ASSIGN(sizes.eps, config.number(keys.eps, 0, 1, keys.default_eps));
  if (sizes.width % sizes.heads != 0)
    return config.refuse(fmt::format("The metadata {} is {}, which {} = {} does not divide",
                                     config.name(keys.width), sizes.width, config.name(keys.heads),
                                     sizes.heads));
  ORRERY_ASSIGN(sizes.activation, parse_activation(config, keys.activation, "gelu"));
  return sizes;
}

Result<void> check_absolute_positions(const Config& config) {
  if (const std::string type = config.text("position_embedding_type", "absolute"); type != "absolute")
    return config.unsupported(fmt::format("position_embedding_type is {:?}", type),
                              "Models with absolute positions can be opened");
  return {};
}

Result<int64_t> table_rows(const Config& config, const GraphBuilder& builder, const std::string& tensor) {
  const auto found = builder.find(tensor + ".weight");
  if (!found) return config.refuse(fmt::format("The file has no tensor {}.weight", tensor));
  if (found->shape->size() != 2 || found->shape->front() < 1 || found->shape->front() > kLargestSize)
    return config.refuse(fmt::format("The tensor {}.weight is no matrix", tensor));
  return found->shape->front();
}

Result<int64_t> read_vocabulary(const Config& config, const GraphBuilder& builder, const std::string& table) {
  ORRERY_ASSIGN(const int64_t rows, table_rows(config, builder, table));
  return config.size("vocab_size", rows);
}

Result<Table> positions_behind_padding(const Config& config, int64_t padding, EncoderSizes& sizes) {
  const int64_t offset = padding + 1;
  if (padding < 0 || offset >= sizes.positions)
    return config.refuse(
        fmt::format("{} positions with the padding at {} leave none for a text", sizes.positions, padding));
  const int64_t rows = sizes.positions;
  sizes.positions -= offset;
  return Table{"position_embedding", "embeddings.position_embeddings", rows, offset};
}

ValueId layer_norm(GraphBuilder& builder, const std::string& name, ValueId src, const std::string& tensor,
                   const EncoderSizes& sizes) {
  const ValueId weight = builder.weight(name + ".weight", tensor + ".weight", {sizes.width});
  ValueId bias;
  if (builder.has(tensor + ".bias")) bias = builder.weight(name + ".bias", tensor + ".bias", {sizes.width});
  return builder.add("layer_norm", name, {src, weight, bias}, {{"eps", sizes.eps}});
}

ValueId lookup(GraphBuilder& builder, std::string_view ids, const Table& table, const EncoderSizes& sizes) {
  const ValueId weight =
      builder.weight(table.name + ".weight", table.tensor + ".weight", {table.rows, sizes.width});
  graph::Attributes attributes;
  if (table.offset != 0) attributes["offset"] = table.offset;
  return builder.add("embedding", table.name, {builder.input(ids), weight}, std::move(attributes));
}

ValueId token_types(const Config& config, GraphBuilder& builder, const std::string& tensor, bool of_pairs,
                    const EncoderSizes& sizes) {
  const auto found = builder.find(tensor + ".weight");
  if (found && found->shape->size() == 1)
    return builder.weight("token_type.weight", tensor + ".weight", {sizes.width});
  const auto rows =
      config.size("type_vocab_size", found && !found->shape->empty() ? found->shape->front() : 1);
  if (!rows.ok()) {
    builder.refuse(rows.error());
    return {};
  }
  if (of_pairs && *rows > 1)
    return lookup(builder, graph::step_input::token_types, {"token_type", tensor, *rows}, sizes);
  const ValueId table = builder.weight("token_type.weight", tensor + ".weight", {*rows, sizes.width});
  return builder.add("table_row", "token_type", {table}, {{"row", int64_t{0}}});
}

ValueId self_attention(GraphBuilder& builder, const SelfAttention& inputs, const EncoderSizes& sizes) {
  std::vector<ValueId> values{inputs.query, inputs.key, inputs.value,
                              builder.input(graph::step_input::sequence_starts)};
  if (inputs.bias.valid()) values.push_back(inputs.bias);
  graph::Attributes attributes{{"heads", sizes.heads},
                               {"kv_heads", sizes.heads},
                               {"scale", 1.0 / std::sqrt(static_cast<double>(sizes.head_dim()))}};
  if (inputs.window > 0) attributes["window"] = inputs.window;
  return builder.add("packed_attention", "sdpa", std::move(values), std::move(attributes));
}

namespace {

ValueId attention(GraphBuilder& builder, ValueId stream, int64_t layer, const EncoderSizes& sizes,
                  const EncoderTensors& tensors, ValueId bias) {
  builder.enter(fmt::format("layers.{}.attention", layer));
  const auto project = [&](const char* name, const std::string& tensor) {
    return builder.linear(stream, {name, tensor, sizes.width, sizes.width});
  };
  const ValueId query = project("q_proj", tensors.query);
  const ValueId key = project("k_proj", tensors.key);
  const ValueId value = project("v_proj", tensors.value);
  const ValueId mixed = self_attention(builder, {query, key, value, bias}, sizes);
  const ValueId out = builder.linear(mixed, {"o_proj", tensors.attention_output, sizes.width, sizes.width});
  const ValueId sum = builder.add("add", "residual", {stream, out});
  return layer_norm(builder, "norm", sum, tensors.attention_norm, sizes);
}

ValueId mlp(GraphBuilder& builder, ValueId stream, int64_t layer, const EncoderSizes& sizes,
            const EncoderTensors& tensors) {
  builder.enter(fmt::format("layers.{}.mlp", layer));
  const ValueId up = builder.linear(stream, {"up_proj", tensors.up, sizes.mlp_width, sizes.width});
  const ValueId active = activate(builder, "act", up, sizes.activation);
  const ValueId down = builder.linear(active, {"down_proj", tensors.down, sizes.width, sizes.mlp_width});
  const ValueId sum = builder.add("add", "residual", {stream, down});
  return layer_norm(builder, "norm", sum, tensors.mlp_norm, sizes);
}

}  // namespace

EncoderTensors bert_layer_tensors(int64_t layer) {
  const std::string at = fmt::format("encoder.layer.{}.", layer), attention = at + "attention.";
  return {attention + "self.query",   attention + "self.key",         attention + "self.value",
          attention + "output.dense", attention + "output.LayerNorm", at + "intermediate.dense",
          at + "output.dense",        at + "output.LayerNorm"};
}

ValueId post_norm_layer(GraphBuilder& builder, ValueId stream, int64_t layer, const EncoderSizes& sizes,
                        const EncoderTensors& tensors, ValueId bias) {
  const ValueId attended = attention(builder, stream, layer, sizes, tensors, bias);
  return mlp(builder, attended, layer, sizes, tensors);
}

}  // namespace orrery::models
