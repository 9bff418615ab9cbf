// StableLM (Bellagente et al. 2024, arXiv 2402.17834): a llama whose norms have means and biases and whose
// heads are rotated in part. The 12B model reads the stream once for attention and MLP, and norms each head
// of query and key with weights of its own.
#include "engine/models/architectures.h"
#include "engine/models/decoder_source.h"

namespace orrery::models {
namespace {

/// Each head of query and key may have a norm of its own: rows of one tensor, or a tensor a head.
void add_head_norms(const DecoderSource& source, int64_t layer, DecoderTensors& tensors) {
  if (source.is_gguf()) return;  // under their usual names
  const std::string at = source.layer_prefix(layer) + "self_attn.";
  if (!source.has(at + "q_layernorm.norms.0")) return;
  tensors.query_norm = at + "q_layernorm.norms.*";
  tensors.key_norm = at + "k_layernorm.norms.*";
}

}  // namespace

Result<BuiltModel> build_stablelm(const io::ModelFile& file, const io::Adapter* adapter) {
  DecoderSource source(file, adapter, {.gguf_name = "stablelm", .norm = "layer_norm"});
  ORRERY_ASSIGN(Decoder decoder, read_plain_decoder(source, false));
  decoder.head_norms = HeadNorms::each_its_own;
  decoder.parallel_residual = source.config().flag("use_parallel_residual", false);
  decoder.layer = [&source, parallel = decoder.parallel_residual, plain = decoder.layer](int64_t layer) {
    DecoderLayerSettings settings = plain(layer);
    add_head_norms(source, layer, settings.tensors);
    // Read once: the MLP has no norm of its own.
    if (parallel && !source.has(settings.tensors.mlp_norm)) settings.tensors.mlp_norm = "";
    return settings;
  };
  return build_decoder(source.builder(), decoder);
}

}  // namespace orrery::models
