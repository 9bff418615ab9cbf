#include "engine/text/charsmap.h"
#include "engine/text/tokenizer_json_parts.h"

namespace orrery::text {
namespace {

using nlohmann::json;

Result<NormalizerPtr> read_sequence(const json& list) {
  std::vector<NormalizerPtr> steps;
  for (const json& inner : list) {
    ORRERY_ASSIGN(NormalizerPtr step, read_normalizer(inner));
    if (step) steps.push_back(std::move(step));
  }
  return normalizer_sequence(std::move(steps));
}

Result<NormalizerPtr> read_replace(const json& normalizer) {
  const json& pattern = member(normalizer, "pattern");
  const std::string content = text_of(normalizer, "content");
  if (member(pattern, "String").is_string()) return replace_normalizer(text_of(pattern, "String"), content);
  ORRERY_ASSIGN(Regex regex, pattern_of(pattern));
  return replace_normalizer(std::move(regex), content);
}

Result<NormalizerPtr> read_precompiled(const json& normalizer) {
  ORRERY_ASSIGN(Charsmap charsmap, Charsmap::parse_base64(text_of(normalizer, "precompiled_charsmap")));
  return precompiled_normalizer(std::move(charsmap));
}

NormalizerPtr read_bert(const json& normalizer) {
  BertNormalization options;
  options.clean_text = flag_of(normalizer, "clean_text", true);
  options.space_cjk = flag_of(normalizer, "handle_chinese_chars", true);
  options.lowercase = flag_of(normalizer, "lowercase", true);
  options.strip_accents = flag_of(normalizer, "strip_accents", options.lowercase);  // null follows lowercase
  return bert_normalizer(options);
}

}  // namespace

Result<NormalizerPtr> read_normalizer(const json& normalizer) {
  if (normalizer.is_null()) return NormalizerPtr();
  const std::string type = text_of(normalizer, "type");
  if (type == "Sequence") return read_sequence(member(normalizer, "normalizers"));
  if (type == "NFC") return form_normalizer(NormalForm::nfc);
  if (type == "NFD") return form_normalizer(NormalForm::nfd);
  if (type == "NFKC") return form_normalizer(NormalForm::nfkc);
  if (type == "NFKD") return form_normalizer(NormalForm::nfkd);
  if (type == "Lowercase") return lowercase_normalizer();
  if (type == "Strip")
    return strip_normalizer(flag_of(normalizer, "strip_left", true),
                            flag_of(normalizer, "strip_right", true));
  if (type == "StripAccents") return strip_accents_normalizer();
  if (type == "Replace") return read_replace(normalizer);
  if (type == "Prepend") return prepend_normalizer(text_of(normalizer, "prepend"));
  if (type == "Nmt") return nmt_normalizer();
  if (type == "Precompiled") return read_precompiled(normalizer);
  if (type == "BertNormalizer") return read_bert(normalizer);
  if (type == "ByteLevel") return byte_characters_normalizer();
  return json_unsupported("normalizer", type);
}

}  // namespace orrery::text
