// Gemma 2 (Gemma team 2024, arXiv 2408.00118) and Gemma 3 (2025, arXiv 2503.19786): norms before and after
// attention and MLP, scaled embeddings, GeGLU, layers that see a window between layers that see all. Gemma 2
// bends scores and logits below a cap; Gemma 3 norms each head of query and key, and rotates slower where
// it sees all. Folders store norm weights as their difference from 1, GGUF as they are.
#include <fmt/format.h>

#include <cmath>

#include "engine/models/architectures.h"
#include "engine/models/decoder_source.h"

namespace orrery::models {
namespace {

struct Gemma {
  int64_t pattern = 0;        // every so many layers one sees all
  int64_t layers_of_27b = 0;  // whose scores GGUF readers scale otherwise, as the file does not say how
};

/// config.json says query_pre_attn_scalar. GGUF says nothing: it is the head's size but in the 27B models.
Result<double> attention_scale(const DecoderSource& source, const Decoder& decoder, const Gemma& gemma) {
  double scalar = static_cast<double>(decoder.head_dim);
  if (source.is_gguf() && decoder.layers == gemma.layers_of_27b)
    scalar = static_cast<double>(decoder.width) / static_cast<double>(decoder.heads);
  ORRERY_ASSIGN(scalar, source.config().number("query_pre_attn_scalar", 1e-3, 1e9, scalar));
  return 1.0 / std::sqrt(scalar);
}

DecoderTensors layer_tensors(const DecoderSource& source, int64_t layer) {
  DecoderTensors tensors = source.tensors(layer);
  const std::string at = source.layer_prefix(layer);
  const bool gguf = source.is_gguf();
  tensors.attention_post_norm = at + (gguf ? "post_attention_norm" : "post_attention_layernorm");
  tensors.mlp_norm = at + (gguf ? "ffn_norm" : "pre_feedforward_layernorm");
  tensors.mlp_post_norm = at + (gguf ? "post_ffw_norm" : "post_feedforward_layernorm");
  return tensors;
}

/// The rope of layers that see a window: Gemma 3 has its own base for them.
Result<RopeSettings> local_rope(const DecoderSource& source, const Decoder& decoder) {
  const Config& config = source.config();
  if (config.has("rope_parameters.sliding_attention.rope_type"))
    return source.read_rope(decoder, "sliding_attention");
  RopeSettings rope = decoder.rope;
  rope.scaling = "none";
  ORRERY_ASSIGN(rope.base, config.number(source.is_gguf() ? "rope.freq_base_swa" : "rope_local_base_freq", 1,
                                         1e12, 10000.0));
  return rope;
}

Result<Decoder> read_gemma(DecoderSource& source, const Gemma& gemma) {
  ORRERY_ASSIGN(Decoder decoder, source.read());
  const Config& config = source.config();
  decoder.norm.unit_offset = !source.is_gguf();
  decoder.embedding_scale = std::sqrt(static_cast<double>(decoder.width));
  ORRERY_ASSIGN(decoder.attention_scale, attention_scale(source, decoder, gemma));
  ORRERY_ASSIGN(decoder.attention_softcap, config.number("attn_logit_softcapping", 0, 1e6, 0.0));
  ORRERY_ASSIGN(decoder.logit_softcap, config.number("final_logit_softcapping", 0, 1e6, 0.0));
  return decoder;
}

/// The layers, from the rope of those that see all (decoder.rope) and of those that see a window.
Result<void> add_layers(const DecoderSource& source, Decoder& decoder, const Gemma& gemma,
                        const RopeSettings& local) {
  ORRERY_ASSIGN(const int64_t pattern, source.config().size("sliding_window_pattern", gemma.pattern));
  ORRERY_ASSIGN(const std::vector<int64_t> windows, source.read_windows(decoder, [pattern](int64_t layer) {
    return (layer + 1) % pattern != 0;
  }));
  decoder.layer = [&source, windows, local, global = decoder.rope](int64_t layer) {
    const auto index = static_cast<size_t>(layer);
    const int64_t window = index < windows.size() ? windows[index] : 0;
    return DecoderLayerSettings{layer_tensors(source, layer), window > 0 ? local : global, window};
  };
  return {};
}

}  // namespace

Result<BuiltModel> build_gemma2(const io::ModelFile& file, const io::Adapter* adapter) {
  static constexpr Gemma kGemma2{2, 46};
  DecoderSource source(file, adapter, {.gguf_name = "gemma2", .activation = "gelu_pytorch_tanh"});
  ORRERY_ASSIGN(Decoder decoder, read_gemma(source, kGemma2));
  ORRERY_ASSIGN(decoder.rope, source.read_rope(decoder));
  ORRERY_TRY(add_layers(source, decoder, kGemma2, decoder.rope));
  return build_decoder(source.builder(), decoder);
}

Result<BuiltModel> build_gemma3(const io::ModelFile& file, const io::Adapter* adapter) {
  static constexpr Gemma kGemma3{6, 62};
  DecoderSource source(file, adapter, {.gguf_name = "gemma3", .activation = "gelu_pytorch_tanh"});
  ORRERY_ASSIGN(Decoder decoder, read_gemma(source, kGemma3));
  ORRERY_ASSIGN(decoder.rope, source.read_rope(decoder, "full_attention"));
  ORRERY_ASSIGN(const RopeSettings local, local_rope(source, decoder));
  ORRERY_TRY(add_layers(source, decoder, kGemma3, local));
  return build_decoder(source.builder(), decoder);
}

}  // namespace orrery::models
