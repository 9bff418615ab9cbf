// Qwen2 (Yang et al. 2024, arXiv 2407.10671): a llama whose query, key and value have biases. Qwen3 (2025,
// arXiv 2505.09388): without them, but each head of query and key is normed.
#include "engine/models/architectures.h"
#include "engine/models/decoder_source.h"

namespace orrery::models {
namespace {

Result<BuiltModel> build_qwen(const io::ModelFile& file, const io::Adapter* adapter, std::string_view name) {
  DecoderSource source(file, adapter, {.gguf_name = name});
  const bool windows = !source.is_gguf() && source.config().flag("use_sliding_window", false);
  ORRERY_ASSIGN(Decoder decoder, read_plain_decoder(source, windows));
  return build_decoder(source.builder(), decoder);
}

}  // namespace

Result<BuiltModel> build_qwen2(const io::ModelFile& file, const io::Adapter* adapter) {
  return build_qwen(file, adapter, "qwen2");
}

Result<BuiltModel> build_qwen3(const io::ModelFile& file, const io::Adapter* adapter) {
  return build_qwen(file, adapter, "qwen3");
}

}  // namespace orrery::models
