// Phi-3 (Abdin et al. 2024, arXiv 2404.14219): a llama whose projections are fused, query, key and value in
// one matrix, gate and up in another; with a window, and factors of their own for long contexts. Phi-4
// rotates only part of each head.
#include "engine/models/architectures.h"
#include "engine/models/decoder_source.h"

namespace orrery::models {

Result<BuiltModel> build_phi3(const io::ModelFile& file, const io::Adapter* adapter) {
  DecoderSource source(file, adapter, {.gguf_name = "phi3"});
  ORRERY_ASSIGN(Decoder decoder, read_plain_decoder(source));
  decoder.layer = [&source, &decoder, plain = decoder.layer](int64_t layer) {
    DecoderLayerSettings settings = plain(layer);
    const std::string at = source.layer_prefix(layer);
    const bool gguf = source.is_gguf();
    fuse_qkv(source, decoder, at + (gguf ? "attn_qkv" : "self_attn.qkv_proj"), settings.tensors);
    const std::string wide = at + (gguf ? "ffn_up" : "mlp.gate_up_proj");
    const int64_t width = decoder.mlp_width;
    settings.tensors.gate = {wide, {.rows = {0, width}, .of_rows = 2 * width}};
    settings.tensors.up = {wide, {.rows = {width, width}, .of_rows = 2 * width}};
    return settings;
  };
  return build_decoder(source.builder(), decoder);
}

}  // namespace orrery::models
