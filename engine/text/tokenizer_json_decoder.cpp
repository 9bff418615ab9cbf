#include "engine/text/tokenizer_json_parts.h"
#include "engine/text/unicode.h"

namespace orrery::text {
namespace {

using nlohmann::json;
using StepPtr = std::shared_ptr<const DecodeStep>;

Result<StepPtr> read_replace(const json& decoder) {
  const json& pattern = member(decoder, "pattern");
  const std::string content = text_of(decoder, "content");
  if (member(pattern, "String").is_string()) return replace_step(text_of(pattern, "String"), content);
  ORRERY_ASSIGN(Regex regex, pattern_of(pattern));
  return replace_step(std::move(regex), content);
}

Result<StepPtr> read_strip(const json& decoder) {
  const std::string content = text_of(decoder, "content");
  const int64_t start = integer_of(decoder, "start", 0), stop = integer_of(decoder, "stop", 0);
  if (content.empty() || code_point_at(content, 0).bytes != content.size() || start < 0 || stop < 0)
    return json_damaged("A Strip decoder does not name one character and two counts");
  return strip_step(code_point_at(content, 0).value, static_cast<size_t>(start), static_cast<size_t>(stop));
}

StepPtr read_metaspace(const json& decoder) {
  const std::string scheme =
      text_of(decoder, "prepend_scheme", flag_of(decoder, "add_prefix_space", true) ? "always" : "never");
  return metaspace_step(text_of(decoder, "replacement", std::string(kSpaceMark)), scheme != "never");
}

Result<StepPtr> read_step(const std::string& type, const json& decoder) {
  if (type == "ByteLevel") return byte_level_step();
  if (type == "ByteFallback") return byte_fallback_step();
  if (type == "Fuse") return fuse_step();
  if (type == "Replace") return read_replace(decoder);
  if (type == "Strip") return read_strip(decoder);
  if (type == "Metaspace") return read_metaspace(decoder);
  if (type == "WordPiece")
    return wordpiece_step(text_of(decoder, "prefix", "##"), flag_of(decoder, "cleanup", true));
  if (type == "BPEDecoder") return suffix_step(text_of(decoder, "suffix", "</w>"));
  return json_unsupported("decoder", type);
}

Result<void> append(const json& decoder, Decoder& steps) {
  const std::string type = text_of(decoder, "type");
  if (type == "Sequence") {
    for (const json& inner : member(decoder, "decoders")) ORRERY_TRY(append(inner, steps));
    return {};
  }
  ORRERY_ASSIGN(StepPtr step, read_step(type, decoder));
  steps.push_back(std::move(step));
  return {};
}

}  // namespace

Result<Decoder> read_decoder(const json& decoder) {
  Decoder steps;
  if (!decoder.is_null()) ORRERY_TRY(append(decoder, steps));
  return steps;
}

}  // namespace orrery::text
