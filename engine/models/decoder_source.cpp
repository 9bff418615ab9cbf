#include "engine/models/decoder_source.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace orrery::models {
namespace {

/// What GGUF calls the keys of config.json by.
constexpr KeyName kGgufKeys[] = {
    {"num_hidden_layers", "block_count"},
    {"max_position_embeddings", "context_length"},
    {"hidden_size", "embedding_length"},
    {"intermediate_size", "feed_forward_length"},
    {"num_attention_heads", "attention.head_count"},
    {"num_key_value_heads", "attention.head_count_kv"},
    {"head_dim", "attention.key_length"},
    {"rms_norm_eps", "attention.layer_norm_rms_epsilon"},
    {"layer_norm_eps", "attention.layer_norm_epsilon"},
    {"sliding_window", "attention.sliding_window"},
    {"sliding_window_pattern", "attention.sliding_window_pattern"},
    {"attention_multiplier", "attention.scale"},
    {"embedding_multiplier", "embedding_scale"},
    {"residual_multiplier", "residual_scale"},
    {"logits_scaling", "logit_scale"},
    {"num_experts", "expert_count"},
    {"num_local_experts", "expert_count"},
    {"num_experts_per_tok", "expert_used_count"},
    {"moe_intermediate_size", "expert_feed_forward_length"},
    {"norm_topk_prob", "expert_weights_norm"},
};

std::string config_prefix(const io::ModelFile& file, const DecoderFamily& family) {
  if (file.format == io::Format::gguf) return std::string(family.gguf_name) + ".";
  // A model that also sees keeps what it says of its texts apart.
  return file.metadata.find("text_config.hidden_size") ? "text_config." : "";
}

std::string_view activation_key(const Config& config) {
  for (const std::string_view key : {"hidden_activation", "hidden_act", "activation_function"})
    if (config.has(key)) return key;
  return "hidden_act";
}

}  // namespace

DecoderSource::DecoderSource(const io::ModelFile& file, const io::Adapter* adapter,
                             const DecoderFamily& family)
    : family_(family),
      gguf_(file.format == io::Format::gguf),
      config_(file, config_prefix(file, family), gguf_ ? KeyNames(kGgufKeys) : family.folder_keys),
      builder_(file, adapter),
      prefix_(folder_prefix()) {}

/// Files of a model without its head leave the prefix out, those of one that also sees put more before it.
std::string DecoderSource::folder_prefix() const {
  const std::string usual(family_.folder_prefix), table = std::string(family_.token_table) + ".weight";
  for (const std::string& prefix :
       {usual, std::string(), "language_model." + usual, usual + "language_model."})
    if (builder_.has(prefix + table)) return prefix;
  return usual;
}

Result<void> DecoderSource::read_attention_sizes(Decoder& decoder) const {
  ORRERY_ASSIGN(decoder.heads, config_.size("num_attention_heads"));
  if (config_.has("head_dim")) {
    ORRERY_ASSIGN(decoder.head_dim, config_.size("head_dim"));
  } else if (decoder.width % decoder.heads == 0) {
    decoder.head_dim = decoder.width / decoder.heads;
  } else {
    return config_.refuse(fmt::format("The metadata {} is {}, which {} = {} does not divide",
                                      config_.name("hidden_size"), decoder.width,
                                      config_.name("num_attention_heads"), decoder.heads));
  }
  ORRERY_ASSIGN(decoder.kv_heads, config_.size("num_key_value_heads", decoder.heads));
  if (decoder.heads % decoder.kv_heads != 0)
    return config_.refuse(fmt::format("The metadata {} is {}, which {} = {} does not divide",
                                      config_.name("num_attention_heads"), decoder.heads,
                                      config_.name("num_key_value_heads"), decoder.kv_heads));
  if (gguf_) {
    ORRERY_ASSIGN(const int64_t value_dim, config_.size("attention.value_length", decoder.head_dim));
    if (value_dim != decoder.head_dim)
      return config_.unsupported(
          fmt::format("Keys have {} elements per head, values {}", decoder.head_dim, value_dim),
          "Open a model whose keys and values are of one size");
  }
  decoder.attention_scale = 1.0 / std::sqrt(static_cast<double>(decoder.head_dim));
  return {};
}

/// The vocabulary is as long as the table of token vectors.
Result<void> DecoderSource::read_tables(Decoder& decoder) const {
  const auto named = [&](std::string_view gguf, std::string_view folder) {
    return gguf_ ? std::string(gguf) : folder.empty() ? std::string() : prefix_ + std::string(folder);
  };
  decoder.token_table = named("token_embd", family_.token_table);
  decoder.output_norm = named("output_norm", family_.output_norm);
  decoder.output = gguf_ ? "output" : std::string(family_.output);
  if (!family_.position_table.empty())
    decoder.position_table = named("position_embd", family_.position_table);
  const std::string table = decoder.token_table + ".weight";
  const auto found = builder_.find(table);
  if (!found) return config_.refuse(fmt::format("The file has no tensor {}", table));
  if (found->shape->size() != 2 || found->shape->front() < 1 || found->shape->front() > kLargestSize)
    return config_.refuse(fmt::format("The tensor {} is no table of token vectors", table));
  decoder.vocabulary = found->shape->front();
  return {};
}

Result<Decoder> DecoderSource::read() const {
  if (gguf_ && !family_.mixes_experts &&
      config_.file().metadata.integer(config_.name("expert_count")).value_or(0) > 0)
    return config_.unsupported(fmt::format("This {} is a mixture of experts", family_.gguf_name),
                               "Open one with a single MLP in each layer");
  ORRERY_ASSIGN(Decoder decoder, read_outer());
  ORRERY_ASSIGN(decoder.mlp_width, config_.size("intermediate_size", 4 * decoder.width));
  ORRERY_TRY(read_attention_sizes(decoder));
  return decoder;
}

Result<Decoder> DecoderSource::read_outer() const {
  Decoder decoder;
  ORRERY_ASSIGN(decoder.layers, config_.size("num_hidden_layers"));
  const std::string_view context = "max_position_embeddings";
  ORRERY_ASSIGN(decoder.context_length, family_.context_length > 0
                                            ? config_.size(context, family_.context_length)
                                            : config_.size(context));
  ORRERY_ASSIGN(decoder.width, config_.size("hidden_size"));
  decoder.norm.op = family_.norm;
  ORRERY_ASSIGN(decoder.norm.eps,
                config_.number(family_.norm == "rms_norm" ? "rms_norm_eps" : "layer_norm_eps", 0, 1));
  ORRERY_ASSIGN(decoder.activation,
                parse_activation(config_, activation_key(config_), std::string(family_.activation)));
  ORRERY_TRY(read_tables(decoder));
  return decoder;
}

Result<std::vector<int64_t>> DecoderSource::read_windows(const Decoder& decoder,
                                                         const std::function<bool(int64_t)>& slides) const {
  std::vector<int64_t> windows;
  if (!config_.has("sliding_window")) return windows;
  ORRERY_ASSIGN(const int64_t window, config_.size("sliding_window"));
  const std::vector<std::string>* types = config_.texts("layer_types");
  if (types && static_cast<int64_t>(types->size()) < decoder.layers)
    return config_.refuse(fmt::format("The metadata {} tells of {} layers, but {} is {}",
                                      config_.name("layer_types"), types->size(),
                                      config_.name("num_hidden_layers"), decoder.layers));
  const auto type_of = [&](int64_t layer) -> const std::string& {
    return (*types)[static_cast<size_t>(layer)];
  };
  // No more than the file has tensors for: a count that lies costs no memory.
  const int64_t layers =
      std::min<int64_t>(decoder.layers, static_cast<int64_t>(config_.file().tensors.size()));
  for (int64_t layer = 0; layer < layers; ++layer)
    windows.push_back((types ? type_of(layer) == "sliding_attention" : slides(layer)) ? window : 0);
  return windows;
}

std::string DecoderSource::layer_prefix(int64_t layer) const {
  return gguf_ ? fmt::format("blk.{}.", layer) : fmt::format("{}{}.{}.", prefix_, family_.layers, layer);
}

DecoderTensors DecoderSource::tensors(int64_t layer) const {
  const std::string at = layer_prefix(layer);
  const auto named = [&](std::string_view gguf, std::string_view folder) {
    return at + std::string(gguf_ ? gguf : folder);
  };
  const auto optional = [&](std::string_view gguf, std::string_view folder) {
    std::string name = named(gguf, folder);
    return has(name) ? name : std::string();
  };
  DecoderTensors tensors;
  tensors.attention_norm = named("attn_norm", "input_layernorm");
  tensors.query = named("attn_q", "self_attn.q_proj");
  tensors.key = named("attn_k", "self_attn.k_proj");
  tensors.value = named("attn_v", "self_attn.v_proj");
  tensors.query_norm = optional("attn_q_norm", "self_attn.q_norm");
  tensors.key_norm = optional("attn_k_norm", "self_attn.k_norm");
  tensors.attention_output = named("attn_output", "self_attn.o_proj");
  tensors.mlp_norm = named("ffn_norm", "post_attention_layernorm");
  tensors.gate = named("ffn_gate", "mlp.gate_proj");
  tensors.up = named("ffn_up", "mlp.up_proj");
  tensors.down = named("ffn_down", "mlp.down_proj");
  return tensors;
}

void fuse_qkv(const DecoderSource& source, const Decoder& decoder, const std::string& fused,
              DecoderTensors& tensors) {
  if (!source.has(fused)) return;
  const int64_t query = decoder.heads * decoder.head_dim, key = decoder.kv_heads * decoder.head_dim;
  const int64_t all = query + 2 * key;
  tensors.query = {fused, {.rows = {0, query}, .of_rows = all}};
  tensors.key = {fused, {.rows = {query, key}, .of_rows = all}};
  tensors.value = {fused, {.rows = {query + key, key}, .of_rows = all}};
}

Result<Decoder> read_plain_decoder(DecoderSource& source, bool windows) {
  ORRERY_ASSIGN(Decoder decoder, source.read());
  ORRERY_ASSIGN(decoder.rope, source.read_rope(decoder));
  std::vector<int64_t> seen;
  if (windows) {
    ORRERY_ASSIGN(seen, source.read_windows(decoder, [](int64_t) { return true; }));
  }
  decoder.layer = [&source, rope = decoder.rope, seen](int64_t layer) {
    const auto index = static_cast<size_t>(layer);
    return DecoderLayerSettings{source.tensors(layer), rope, index < seen.size() ? seen[index] : 0};
  };
  return decoder;
}

}  // namespace orrery::models
