// Mixtral (Jiang et al. 2024, arXiv 2401.04088): a mistral whose MLPs are mixtures of experts, the weights of
// a token's experts adding up to 1; in GGUF it goes by the name of llama. Qwen3-MoE (2025, arXiv 2505.09388):
// a qwen3 some of whose MLPs are.
#include "engine/models/architectures.h"
#include "engine/models/decoder_source.h"

namespace orrery::models {
namespace {

Result<BuiltModel> build_mixture(DecoderSource& source, bool normalise, bool windows) {
  ORRERY_ASSIGN(Decoder decoder, read_plain_decoder(source, windows));
  ORRERY_ASSIGN(const Mixture mixture, source.read_mixture(decoder, normalise));
  decoder.layer = [&source, mixture, plain = decoder.layer](int64_t layer) {
    DecoderLayerSettings settings = plain(layer);
    settings.mixture = source.mixture_of(mixture, layer);
    return settings;
  };
  return build_decoder(source.builder(), decoder);
}

}  // namespace

Result<BuiltModel> build_mixtral(const io::ModelFile& file, const io::Adapter* adapter) {
  DecoderSource source(file, adapter,
                       {.gguf_name = "llama", .gguf_rope_style = "interleaved", .mixes_experts = true});
  return build_mixture(source, true, true);
}

Result<BuiltModel> build_qwen3_moe(const io::ModelFile& file, const io::Adapter* adapter) {
  DecoderSource source(file, adapter, {.gguf_name = "qwen3moe", .mixes_experts = true});
  const bool windows = !source.is_gguf() && source.config().flag("use_sliding_window", false);
  return build_mixture(source, source.is_gguf(), windows);
}

}  // namespace orrery::models
