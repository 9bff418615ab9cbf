// StableLM (Bellagente et al. 2024, arXiv 2402.17834): a llama whose norms have means and biases and whose
// heads are rotated in part. The 12B model reads the stream once for attention and MLP.
#include "engine/models/architectures.h"
#include "engine/models/decoder_source.h"

namespace orrery::models {
namespace {

Result<void> check_head_norms(const DecoderSource& source) {
  if (source.config().flag("qk_layernorm", false) || source.has("blk.0.attn_q_norm"))
    return source.config().unsupported(
        "This StableLM norms each head of query and key with weights of its own",
        "Models without qk_layernorm can be opened");
  return {};
}

}  // namespace

Result<BuiltModel> build_stablelm(const io::ModelFile& file, const io::Adapter* adapter) {
  DecoderSource source(file, adapter, {.gguf_name = "stablelm", .norm = "layer_norm"});
  ORRERY_TRY(check_head_norms(source));
  ORRERY_ASSIGN(Decoder decoder, read_plain_decoder(source, false));
  decoder.parallel_residual = source.config().flag("use_parallel_residual", false);
  decoder.layer = [&source, parallel = decoder.parallel_residual, plain = decoder.layer](int64_t layer) {
    DecoderLayerSettings settings = plain(layer);
    // Read once: the MLP has no norm of its own.
    if (parallel && !source.has(settings.tensors.mlp_norm)) settings.tensors.mlp_norm = "";
    return settings;
  };
  return build_decoder(source.builder(), decoder);
}

}  // namespace orrery::models
