#include "engine/text/charsmap.h"
#include "engine/text/tokenizer_json_parts.h"

namespace orrery::text {
namespace {

using nlohmann::json;

using Type = JsonType<NormalizerPtr>;

Result<NormalizerPtr> read_sequence(const json& normalizer) {
  std::vector<NormalizerPtr> steps;
  for (const json& inner : member(normalizer, "normalizers")) {
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

Result<NormalizerPtr> read_bert(const json& normalizer) {
  BertNormalization options;
  options.clean_text = flag_of(normalizer, "clean_text", true);
  options.space_cjk = flag_of(normalizer, "handle_chinese_chars", true);
  options.lowercase = flag_of(normalizer, "lowercase", true);
  options.strip_accents = flag_of(normalizer, "strip_accents", options.lowercase);  // null follows lowercase
  return bert_normalizer(options);
}

template <NormalForm form>
Result<NormalizerPtr> read_form(const json&) {
  return form_normalizer(form);
}

Result<NormalizerPtr> read_strip(const json& normalizer) {
  return strip_normalizer(flag_of(normalizer, "strip_left", true), flag_of(normalizer, "strip_right", true));
}

Result<NormalizerPtr> read_prepend(const json& normalizer) {
  return prepend_normalizer(text_of(normalizer, "prepend"));
}

constexpr Type kNormalizerTypes[] = {
    {"Sequence", read_sequence},
    {"NFC", read_form<NormalForm::nfc>},
    {"NFD", read_form<NormalForm::nfd>},
    {"NFKC", read_form<NormalForm::nfkc>},
    {"NFKD", read_form<NormalForm::nfkd>},
    {"Lowercase", [](const json&) -> Result<NormalizerPtr> { return lowercase_normalizer(); }},
    {"Strip", read_strip},
    {"StripAccents", [](const json&) -> Result<NormalizerPtr> { return strip_accents_normalizer(); }},
    {"Replace", read_replace},
    {"Prepend", read_prepend},
    {"Nmt", [](const json&) -> Result<NormalizerPtr> { return nmt_normalizer(); }},
    {"Precompiled", read_precompiled},
    {"BertNormalizer", read_bert},
    {"ByteLevel", [](const json&) -> Result<NormalizerPtr> { return byte_characters_normalizer(); }},
};

}  // namespace

std::vector<std::string_view> normalizer_types() { return names_of(kNormalizerTypes); }

Result<NormalizerPtr> read_normalizer(const json& normalizer) {
  if (normalizer.is_null()) return NormalizerPtr();
  const std::string type = text_of(normalizer, "type");
  const Type* found = find_type(kNormalizerTypes, type);
  return found ? found->read(normalizer) : json_unsupported("normalizer", type);
}

}  // namespace orrery::text
