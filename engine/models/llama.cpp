// Llama (Touvron et al. 2023, arXiv 2302.13971): pre-norm decoder with rotary positions, grouped-query
// attention and SwiGLU. In GGUF its query and key rows are permuted for interleaved rotation. Mistral (Jiang
// et al. 2023, arXiv 2310.06825) is the same with a window, and in GGUF goes by the name of llama,
// as Mixtral does.
#include "engine/models/architectures.h"
#include "engine/models/decoder_source.h"

namespace orrery::models {

Result<BuiltModel> build_llama(const io::ModelFile& file, const io::Adapter* adapter) {
  if (file.metadata.integer("llama.expert_count").value_or(0) > 0) return build_mixtral(file, adapter);
  DecoderSource source(file, adapter, {.gguf_name = "llama", .gguf_rope_style = "interleaved"});
  ORRERY_ASSIGN(const Decoder decoder, read_plain_decoder(source));
  return build_decoder(source.builder(), decoder);
}

}  // namespace orrery::models
