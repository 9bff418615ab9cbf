// Llama (Touvron et al. 2023, arXiv 2302.13971): pre-norm decoder with rotary positions, grouped-query
// attention and SwiGLU. From GGUF (keys llama.*, tensors blk.N.*; the query and key rows are permuted for
// interleaved rotation) or from a Hugging Face folder (config.json, model.layers.N.*; halves rotate).
#include <fmt/format.h>

#include "engine/models/architectures.h"
#include "engine/models/blocks.h"
#include "engine/models/config.h"

namespace orrery::models {
namespace {

struct Llama {
  DecoderSizes sizes;
  int64_t layers = 0, context_length = 0;
};

Result<void> check_heads(const Config& config, const DecoderSizes& sizes, std::string_view heads_key,
                         std::string_view kv_heads_key) {
  if (sizes.heads % sizes.kv_heads != 0)
    return config.refuse(fmt::format("The metadata {} is {}, which {} = {} does not divide",
                                     config.name(heads_key), sizes.heads, config.name(kv_heads_key),
                                     sizes.kv_heads));
  if (sizes.rope.dims % 2 != 0 || sizes.rope.dims > sizes.head_dim)
    return config.refuse(
        fmt::format("{} elements of a head would be rotated; it must be an even number up to {}",
                    sizes.rope.dims, sizes.head_dim));
  return {};
}

/// Width over heads, where the file does not give the head size itself.
Result<int64_t> head_dim(const Config& config, std::string_view key, const DecoderSizes& sizes,
                         std::string_view width_key, std::string_view heads_key) {
  if (config.has(key)) return config.size(key);
  if (sizes.width % sizes.heads != 0)
    return config.refuse(fmt::format("The metadata {} is {}, which {} = {} does not divide",
                                     config.name(width_key), sizes.width, config.name(heads_key),
                                     sizes.heads));
  return sizes.width / sizes.heads;
}

/// Linear scaling: positions count 1 / factor.
Result<double> frequency_scale(const Config& config, std::string_view type_key, std::string_view factor_key) {
  const std::string type = config.text(type_key, "none");
  if (type == "none" || type == "default") return 1.0;
  if (type != "linear")
    return config.unsupported(
        fmt::format("The position scaling {:?} ({}) is not known", type, config.name(type_key)),
        "Models with linear scaling, with tensor rope_freqs or without scaling can be opened");
  ORRERY_ASSIGN(const double factor, config.number(factor_key, 1e-3, 1e6));
  return 1.0 / factor;
}

Result<Llama> read_gguf(const Config& config, const GraphBuilder& builder) {
  if (config.has("expert_count") &&
      config.file().metadata.integer(config.name("expert_count")).value_or(0) > 0)
    return config.unsupported("This llama is a mixture of experts",
                              "Open one with a single MLP in each layer");
  Llama llama;
  DecoderSizes& sizes = llama.sizes;
  ORRERY_ASSIGN(llama.layers, config.size("block_count"));
  ORRERY_ASSIGN(llama.context_length, config.size("context_length"));
  ORRERY_ASSIGN(sizes.width, config.size("embedding_length"));
  ORRERY_ASSIGN(sizes.mlp_width, config.size("feed_forward_length"));
  ORRERY_ASSIGN(sizes.heads, config.size("attention.head_count"));
  ORRERY_ASSIGN(sizes.kv_heads, config.size("attention.head_count_kv", sizes.heads));
  ORRERY_ASSIGN(sizes.head_dim,
                head_dim(config, "attention.key_length", sizes, "embedding_length", "attention.head_count"));
  ORRERY_ASSIGN(const int64_t value_dim, config.size("attention.value_length", sizes.head_dim));
  if (value_dim != sizes.head_dim)
    return config.unsupported(
        fmt::format("Keys have {} elements a head, values {}", sizes.head_dim, value_dim),
        "Open a model whose keys and values are of one size");
  ORRERY_ASSIGN(sizes.eps, config.number("attention.layer_norm_rms_epsilon", 0, 1));
  ORRERY_ASSIGN(sizes.rope.dims, config.size("rope.dimension_count", sizes.head_dim));
  ORRERY_ASSIGN(sizes.rope.base, config.number("rope.freq_base", 1, 1e12, 10000.0));
  ORRERY_ASSIGN(sizes.rope.frequency_scale,
                frequency_scale(config, "rope.scaling.type", "rope.scaling.factor"));
  if (builder.has("rope_freqs.weight")) sizes.rope.factors = "rope_freqs.weight";
  ORRERY_TRY(check_heads(config, sizes, "attention.head_count", "attention.head_count_kv"));
  return llama;
}

Result<Llama> read_config_json(const Config& config) {
  if (const std::string act = config.text("hidden_act", "silu"); act != "silu")
    return config.unsupported(fmt::format("hidden_act is {:?}; a llama has silu", act), "Open another model");
  Llama llama;
  DecoderSizes& sizes = llama.sizes;
  ORRERY_ASSIGN(llama.layers, config.size("num_hidden_layers"));
  ORRERY_ASSIGN(llama.context_length, config.size("max_position_embeddings"));
  ORRERY_ASSIGN(sizes.width, config.size("hidden_size"));
  ORRERY_ASSIGN(sizes.mlp_width, config.size("intermediate_size"));
  ORRERY_ASSIGN(sizes.heads, config.size("num_attention_heads"));
  ORRERY_ASSIGN(sizes.kv_heads, config.size("num_key_value_heads", sizes.heads));
  ORRERY_ASSIGN(sizes.head_dim, head_dim(config, "head_dim", sizes, "hidden_size", "num_attention_heads"));
  ORRERY_ASSIGN(sizes.eps, config.number("rms_norm_eps", 0, 1));
  sizes.rope.style = "half";
  sizes.rope.dims = sizes.head_dim;
  ORRERY_ASSIGN(sizes.rope.base, config.number("rope_theta", 1, 1e12, 10000.0));
  const std::string_view type_key =
      config.has("rope_scaling.rope_type") ? "rope_scaling.rope_type" : "rope_scaling.type";
  ORRERY_ASSIGN(sizes.rope.frequency_scale, frequency_scale(config, type_key, "rope_scaling.factor"));
  ORRERY_TRY(check_heads(config, sizes, "num_attention_heads", "num_key_value_heads"));
  return llama;
}

DecoderTensors layer_tensors(bool gguf, int64_t layer) {
  if (gguf) {
    const std::string at = fmt::format("blk.{}.", layer);
    return {at + "attn_norm", at + "attn_q",   at + "attn_k", at + "attn_v",  at + "attn_output",
            at + "ffn_norm",  at + "ffn_gate", at + "ffn_up", at + "ffn_down"};
  }
  const std::string at = fmt::format("model.layers.{}.", layer), attention = at + "self_attn.",
                    mlp = at + "mlp.";
  return {at + "input_layernorm", attention + "q_proj", attention + "k_proj",
          attention + "v_proj",   attention + "o_proj", at + "post_attention_layernorm",
          mlp + "gate_proj",      mlp + "up_proj",      mlp + "down_proj"};
}

/// The vocabulary is as long as the table of token vectors.
Result<int64_t> vocabulary_of(const Config& config, const GraphBuilder& builder, const std::string& table) {
  const auto found = builder.find(table);
  if (!found) return config.refuse(fmt::format("The file has no tensor {}", table));
  if (found->shape->size() != 2 || found->shape->front() < 1 || found->shape->front() > kLargestSize)
    return config.refuse(fmt::format("The tensor {} is no table of token vectors", table));
  return found->shape->front();
}

}  // namespace

Result<BuiltModel> build_llama(const io::ModelFile& file, const io::Adapter* adapter) {
  const bool gguf = file.format == io::Format::gguf;
  const Config config(file, gguf ? "llama." : "");
  GraphBuilder builder(file, adapter);
  ORRERY_ASSIGN(const Llama llama, gguf ? read_gguf(config, builder) : read_config_json(config));
  const DecoderSizes& sizes = llama.sizes;
  const std::string table = gguf ? "token_embd" : "model.embed_tokens";
  const std::string head = gguf ? "output" : "lm_head";
  ORRERY_ASSIGN(const int64_t vocabulary, vocabulary_of(config, builder, table + ".weight"));

  for (const auto name :
       {graph::step_input::token_ids, graph::step_input::positions, graph::step_input::output_rows})
    builder.input(name);
  builder.enter("embed");
  const ValueId embeddings =
      builder.weight("token_embedding.weight", table + ".weight", {vocabulary, sizes.width});
  ValueId stream =
      builder.add("embedding", "token_embedding", {builder.input(graph::step_input::token_ids), embeddings});
  if (!sizes.rope.factors.empty())  // shared by all layers, so it belongs to none
    builder.weight("rope_factors", sizes.rope.factors, {sizes.rope.dims / 2});
  std::vector<ValueId> states;
  for (int64_t layer = 0; layer < llama.layers && !builder.failed(); ++layer) {
    const DecoderLayer built = decoder_layer(builder, stream, layer, sizes, layer_tensors(gguf, layer));
    stream = built.stream;
    states.push_back(built.state);
  }
  std::vector<ValueId> outputs = decoder_head(
      builder, stream, sizes,
      {gguf ? "output_norm" : "model.norm", builder.has(head + ".weight") ? head : table, vocabulary});
  outputs.insert(outputs.end(), states.begin(), states.end());
  ORRERY_ASSIGN(auto graph, builder.finish(std::move(outputs)));

  BuiltModel model{std::move(graph)};
  model.task = Task::generate;
  model.context_length = llama.context_length;
  model.layers = llama.layers;
  model.width = sizes.width;
  model.heads = sizes.heads;
  model.kv_heads = sizes.kv_heads;
  model.head_dim = sizes.head_dim;
  model.vocabulary = vocabulary;
  return model;
}

}  // namespace orrery::models
