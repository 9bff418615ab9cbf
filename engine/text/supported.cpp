#include "engine/text/supported.h"

#include "engine/text/gguf_pre_tokenizers.h"
#include "engine/text/tokenizer_json_parts.h"
#include "engine/text/tokenizer_settings.h"

namespace orrery::text {

std::vector<SupportedPart> supported_tokenizers() {
  const auto texts = [](const std::vector<std::string_view>& names) {
    return std::vector<std::string>(names.begin(), names.end());
  };
  return {{"Models of GGUF (tokenizer.ggml.model)", texts(gguf_tokenizer_models())},
          {"Pre-tokenizers of GGUF (tokenizer.ggml.pre)", texts(gguf_pre_tokenizer_names())},
          {"Models of tokenizer.json", texts(model_types())},
          {"Normalizers of tokenizer.json", texts(normalizer_types())},
          {"Pre-tokenizers of tokenizer.json", texts(pre_tokenizer_types())},
          {"Post-processors of tokenizer.json", texts(post_processor_types())},
          {"Decoders of tokenizer.json", texts(decoder_types())},
          {"Classes of folders without tokenizer.json", class_names()}};
}

}  // namespace orrery::text
