#include "engine/text/tokenizer_json_parts.h"
#include "engine/text/unicode.h"

namespace orrery::text {
namespace {

using nlohmann::json;
using StepPtr = std::shared_ptr<const DecodeStep>;

Result<StepPtr> read_replace_decoder(const json& decoder) {
  const json& pattern = member(decoder, "pattern");
  const std::string content = text_of(decoder, "content");
  if (member(pattern, "String").is_string()) return replace_step(text_of(pattern, "String"), content);
  ORRERY_ASSIGN(Regex regex, pattern_of(pattern));
  return replace_step(std::move(regex), content);
}

Result<StepPtr> read_strip_decoder(const json& decoder) {
  const std::string content = text_of(decoder, "content");
  const int64_t start = integer_of(decoder, "start", 0), stop = integer_of(decoder, "stop", 0);
  if (content.empty() || code_point_at(content, 0).bytes != content.size() || start < 0 || stop < 0)
    return json_damaged("A Strip decoder does not name one character and two counts");
  return strip_step(code_point_at(content, 0).value, static_cast<size_t>(start), static_cast<size_t>(stop));
}

Result<StepPtr> read_metaspace_decoder(const json& decoder) {
  const std::string scheme =
      text_of(decoder, "prepend_scheme", flag_of(decoder, "add_prefix_space", true) ? "always" : "never");
  return metaspace_step(text_of(decoder, "replacement", std::string(kSpaceMark)), scheme != "never");
}

Result<StepPtr> read_wordpiece_decoder(const json& decoder) {
  return wordpiece_step(text_of(decoder, "prefix", "##"), flag_of(decoder, "cleanup", true));
}

Result<StepPtr> read_suffix_decoder(const json& decoder) {
  return suffix_step(text_of(decoder, "suffix", "</w>"));
}

constexpr JsonType<StepPtr> kDecoderTypes[] = {
    {"ByteLevel", [](const json&) -> Result<StepPtr> { return byte_level_step(); }},
    {"ByteFallback", [](const json&) -> Result<StepPtr> { return byte_fallback_step(); }},
    {"Fuse", [](const json&) -> Result<StepPtr> { return fuse_step(); }},
    {"Replace", read_replace_decoder},
    {"Strip", read_strip_decoder},
    {"Metaspace", read_metaspace_decoder},
    {"WordPiece", read_wordpiece_decoder},
    {"BPEDecoder", read_suffix_decoder},
};

Result<void> append(const json& decoder, Decoder& steps) {
  const std::string type = text_of(decoder, "type");
  if (type == "Sequence") {
    for (const json& inner : member(decoder, "decoders")) ORRERY_TRY(append(inner, steps));
    return {};
  }
  const JsonType<StepPtr>* found = find_type(kDecoderTypes, type);
  if (!found) return json_unsupported("decoder", type);
  ORRERY_ASSIGN(StepPtr step, found->read(decoder));
  steps.push_back(std::move(step));
  return {};
}

}  // namespace

std::vector<std::string_view> decoder_types() {
  std::vector<std::string_view> names = names_of(kDecoderTypes);
  names.insert(names.begin(), "Sequence");
  return names;
}

Result<Decoder> read_decoder(const json& decoder) {
  Decoder steps;
  if (!decoder.is_null()) ORRERY_TRY(append(decoder, steps));
  return steps;
}

}  // namespace orrery::text
