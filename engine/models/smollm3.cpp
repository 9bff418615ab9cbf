// SmolLM3 (2025): a llama whose every fourth layer has no rotary positions.
#include "engine/models/architectures.h"
#include "engine/models/decoder_source.h"

namespace orrery::models {

Result<BuiltModel> build_smollm3(const io::ModelFile& file, const io::Adapter* adapter) {
  DecoderSource source(file, adapter, {.gguf_name = "smollm3", .gguf_rope_style = "interleaved"});
  const Config& config = source.config();
  const bool windows = !source.is_gguf() && config.flag("use_sliding_window", false);
  ORRERY_ASSIGN(Decoder decoder, read_plain_decoder(source, windows));
  ORRERY_ASSIGN(const int64_t interval, config.size("no_rope_layer_interval", 4));
  // A list of 1 (rotated) and 0, one per layer; GGUF keeps to the interval.
  const std::vector<int64_t>* list = config.integers("no_rope_layers");
  decoder.layer = [=, plain = decoder.layer](int64_t layer) {
    DecoderLayerSettings settings = plain(layer);
    const auto index = static_cast<size_t>(layer);
    const bool rotated = list && index < list->size() ? (*list)[index] != 0 : (layer + 1) % interval != 0;
    if (!rotated) settings.rope.dims = 0;
    return settings;
  };
  return build_decoder(source.builder(), decoder);
}

}  // namespace orrery::models
