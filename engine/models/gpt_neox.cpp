// GPT-NeoX (Black et al. 2022, arXiv 2204.06745; Pythia): attention and MLP read the same stream, part of
// each head is rotated, norms with means and biases. One matrix holds query, key and value: in folders head
// by head, in GGUF all queries, then all keys, then all values.
#include "engine/models/architectures.h"
#include "engine/models/decoder_source.h"

namespace orrery::models {
namespace {

constexpr KeyName kGptNeoxKeys[] = {{"rope_theta", "rotary_emb_base"},
                                    {"partial_rotary_factor", "rotary_pct"}};

/// The query (0), key (1) or value (2) rows of every head.
Projection of_heads(const Decoder& decoder, const std::string& tensor, int64_t which) {
  const int64_t dims = decoder.head_dim;
  return {tensor,
          {.rows = {which * dims, dims, 3 * dims, decoder.heads}, .of_rows = 3 * dims * decoder.heads}};
}

DecoderLayerSettings gpt_neox_layer(const DecoderSource& source, const Decoder& decoder, int64_t layer) {
  DecoderLayerSettings settings{source.tensors(layer), decoder.rope};
  DecoderTensors& tensors = settings.tensors;
  const std::string at = source.layer_prefix(layer);
  tensors.gate = {};
  if (source.is_gguf()) {
    fuse_qkv(source, decoder, at + "attn_qkv", tensors);
    return settings;
  }
  const std::string fused = at + "attention.query_key_value";
  tensors.query = of_heads(decoder, fused, 0);
  tensors.key = of_heads(decoder, fused, 1);
  tensors.value = of_heads(decoder, fused, 2);
  tensors.attention_output = at + "attention.dense";
  tensors.up = at + "mlp.dense_h_to_4h";
  tensors.down = at + "mlp.dense_4h_to_h";
  return settings;
}

}  // namespace

Result<BuiltModel> build_gpt_neox(const io::ModelFile& file, const io::Adapter* adapter) {
  DecoderSource source(file, adapter,
                       {.gguf_name = "gptneox",
                        .norm = "layer_norm",
                        .activation = "gelu",
                        .folder_keys = kGptNeoxKeys,
                        .folder_prefix = "gpt_neox.",
                        .token_table = "embed_in",
                        .output_norm = "final_layer_norm",
                        .output = "embed_out"});
  ORRERY_ASSIGN(Decoder decoder, source.read());
  decoder.parallel_residual = source.config().flag("use_parallel_residual", true);
  ORRERY_ASSIGN(decoder.rope, source.read_rope(decoder));
  decoder.layer = [&](int64_t layer) { return gpt_neox_layer(source, decoder, layer); };
  return build_decoder(source.builder(), decoder);
}

}  // namespace orrery::models
