// GPT-2 (Radford et al. 2019): learned positions, norms with means and biases, a plain MLP with GELU. Folders
// store its matrices transposed, query, key and value side by side in one.
#include <fmt/format.h>

#include "engine/models/architectures.h"
#include "engine/models/decoder_source.h"

namespace orrery::models {
namespace {

constexpr KeyName kGpt2Keys[] = {
    {"num_hidden_layers", "n_layer"},  {"max_position_embeddings", "n_positions"},
    {"hidden_size", "n_embd"},         {"intermediate_size", "n_inner"},
    {"num_attention_heads", "n_head"}, {"layer_norm_eps", "layer_norm_epsilon"},
};

Result<void> check_scores(const Config& config) {
  if (!config.flag("scale_attn_weights", true) || config.flag("scale_attn_by_inverse_layer_idx", false))
    return config.unsupported("This GPT-2 scales its scores by the layer, or not at all",
                              "Models whose scores are divided by the root of the head's size can be opened");
  return {};
}

DecoderLayerSettings gpt2_layer(const DecoderSource& source, const Decoder& decoder, int64_t layer) {
  DecoderLayerSettings settings;
  DecoderTensors& tensors = settings.tensors;
  const std::string at = source.layer_prefix(layer);
  const bool folder = !source.is_gguf();
  const auto named = [&](const char* gguf, const char* in_folder) {
    return Projection{at + (folder ? in_folder : gguf), {.transposed = folder}};
  };
  tensors.attention_norm = named("attn_norm", "ln_1").tensor;
  tensors.mlp_norm = named("ffn_norm", "ln_2").tensor;
  fuse_qkv(source, decoder, named("attn_qkv", "attn.c_attn").tensor, tensors);
  for (Projection* projection : {&tensors.query, &tensors.key, &tensors.value})
    projection->part.transposed = folder;
  tensors.attention_output = named("attn_output", "attn.c_proj");
  tensors.up = named("ffn_up", "mlp.c_fc");
  tensors.down = named("ffn_down", "mlp.c_proj");
  return settings;
}

}  // namespace

Result<BuiltModel> build_gpt2(const io::ModelFile& file, const io::Adapter* adapter) {
  DecoderSource source(file, adapter,
                       {.gguf_name = "gpt2",
                        .norm = "layer_norm",
                        .activation = "gelu_new",
                        .folder_keys = kGpt2Keys,
                        .folder_prefix = "transformer.",
                        .layers = "h",
                        .token_table = "wte",
                        .position_table = "wpe",
                        .output_norm = "ln_f"});
  ORRERY_TRY(check_scores(source.config()));
  ORRERY_ASSIGN(Decoder decoder, source.read());
  decoder.layer = [&](int64_t layer) { return gpt2_layer(source, decoder, layer); };
  return build_decoder(source.builder(), decoder);
}

}  // namespace orrery::models
