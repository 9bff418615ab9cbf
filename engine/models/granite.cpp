// Granite 3 (IBM 2024): a llama with a factor on the embeddings, the scores, what a layer adds to the stream,
// and the logits.
#include "engine/models/architectures.h"
#include "engine/models/decoder_source.h"

namespace orrery::models {

Result<BuiltModel> build_granite(const io::ModelFile& file, const io::Adapter* adapter) {
  DecoderSource source(file, adapter, {.gguf_name = "granite", .gguf_rope_style = "interleaved"});
  ORRERY_ASSIGN(Decoder decoder, read_plain_decoder(source, false));
  const auto factor = [&](std::string_view key, double fallback) {
    return source.config().number(key, 1e-6, 1e6, fallback);
  };
  ORRERY_ASSIGN(decoder.embedding_scale, factor("embedding_multiplier", 1.0));
  ORRERY_ASSIGN(decoder.attention_scale, factor("attention_multiplier", decoder.attention_scale));
  ORRERY_ASSIGN(decoder.residual_scale, factor("residual_multiplier", 1.0));
  ORRERY_ASSIGN(const double divisor, factor("logits_scaling", 1.0));
  decoder.logit_scale = 1.0 / divisor;
  return build_decoder(source.builder(), decoder);
}

}  // namespace orrery::models
