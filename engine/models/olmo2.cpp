// OLMo 2 (2025, arXiv 2501.00656): norms only after attention and MLP, and over all of query and key.
#include "engine/models/architectures.h"
#include "engine/models/decoder_source.h"

namespace orrery::models {

Result<BuiltModel> build_olmo2(const io::ModelFile& file, const io::Adapter* adapter) {
  DecoderSource source(file, adapter, {.gguf_name = "olmo2"});
  ORRERY_ASSIGN(Decoder decoder, read_plain_decoder(source, false));
  decoder.head_norms = HeadNorms::whole_row;
  decoder.layer = [&source, plain = decoder.layer](int64_t layer) {
    DecoderLayerSettings settings = plain(layer);
    const std::string at = source.layer_prefix(layer);
    const bool gguf = source.is_gguf();
    settings.tensors.attention_norm = settings.tensors.mlp_norm = "";
    settings.tensors.attention_post_norm = at + (gguf ? "post_attention_norm" : "post_attention_layernorm");
    settings.tensors.mlp_post_norm = at + (gguf ? "post_ffw_norm" : "post_feedforward_layernorm");
    return settings;
  };
  return build_decoder(source.builder(), decoder);
}

}  // namespace orrery::models
