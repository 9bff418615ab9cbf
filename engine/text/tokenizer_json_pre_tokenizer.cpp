#include "engine/text/tokenizer_json_parts.h"
#include "engine/text/unicode.h"
#include "engine/text/word_scanner.h"

namespace orrery::text {
namespace {

using nlohmann::json;

// What the reference's word class holds, and white space, which it does not.
constexpr const char* kWordsOrSigns =
    "[\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\x{200c}\\x{200d}]+|"
    "[^\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\x{200c}\\x{200d}\\s]+";

Result<SplitBehavior> behavior_of(const std::string& name) {
  static constexpr std::pair<std::string_view, SplitBehavior> kNames[] = {
      {"Removed", SplitBehavior::removed},
      {"Isolated", SplitBehavior::isolated},
      {"MergedWithPrevious", SplitBehavior::merged_with_previous},
      {"MergedWithNext", SplitBehavior::merged_with_next},
      {"Contiguous", SplitBehavior::contiguous}};
  for (const auto& [known, behavior] : kNames)
    if (name == known) return behavior;
  return json_unsupported("split behavior", name);
}

Result<PreTokenizerStepPtr> read_split(const json& stage) {
  ORRERY_ASSIGN(const SplitBehavior behavior, behavior_of(text_of(stage, "behavior")));
  const bool invert = flag_of(stage, "invert", false);
  const json& pattern = member(stage, "pattern");
  if (behavior == SplitBehavior::isolated && !invert && member(pattern, "Regex").is_string())
    return isolating_step(text_of(pattern, "Regex"));
  ORRERY_ASSIGN(Regex regex, pattern_of(pattern));
  return split_step(std::move(regex), behavior, invert);
}

Result<PreTokenizerStepPtr> read_metaspace(const json& stage) {
  const std::string scheme =
      text_of(stage, "prepend_scheme", flag_of(stage, "add_prefix_space", true) ? "always" : "never");
  if (scheme != "always" && scheme != "first" && scheme != "never")
    return json_unsupported("prepend scheme", scheme);
  return metaspace_step(text_of(stage, "replacement", std::string(kSpaceMark)),
                        scheme == "always"  ? PrependScheme::always
                        : scheme == "first" ? PrependScheme::first
                                            : PrependScheme::never,
                        flag_of(stage, "split", true));
}

Result<PreTokenizerStepPtr> read_words(const json&) {
  ORRERY_ASSIGN(Regex regex, Regex::compile_oniguruma(kWordsOrSigns));
  return split_step(std::move(regex), SplitBehavior::removed, true);
}

Result<PreTokenizerStepPtr> read_delimiter(const json& stage) {
  const std::string delimiter = text_of(stage, "delimiter");
  if (delimiter.empty() || code_point_at(delimiter, 0).bytes != delimiter.size())
    return json_damaged("A delimiter is not one character");
  return delimiter_step(code_point_at(delimiter, 0).value);
}

Result<PreTokenizerStepPtr> read_fixed_length(const json& stage) {
  const int64_t length = integer_of(stage, "length", 5);
  if (length < 1) return json_damaged("A fixed length is below 1");
  return fixed_length_step(static_cast<size_t>(length));
}

Result<PreTokenizerStepPtr> read_digits(const json& stage) {
  return character_step(is_number, flag_of(stage, "individual_digits", false) ? SplitBehavior::isolated
                                                                              : SplitBehavior::contiguous);
}

Result<PreTokenizerStepPtr> read_punctuation(const json& stage) {
  ORRERY_ASSIGN(const SplitBehavior behavior, behavior_of(text_of(stage, "behavior", "Isolated")));
  return character_step(is_reference_punctuation, behavior);
}

Result<PreTokenizerStepPtr> read_spaces(const json&) {
  return character_step(is_white_space, SplitBehavior::removed);
}

/// Those that are one step.
constexpr JsonType<PreTokenizerStepPtr> kPreTokenizerTypes[] = {
    {"Split", read_split},
    {"Metaspace", read_metaspace},
    {"Whitespace", read_words},
    {"WhitespaceSplit", read_spaces},
    {"CharDelimiterSplit", read_delimiter},
    {"FixedLength", read_fixed_length},
    {"Digits", read_digits},
    {"Punctuation", read_punctuation},
};
constexpr std::string_view kOthers[] = {"Sequence", "ByteLevel", "BertPreTokenizer"};

class PreTokenizerReader {
 public:
  Result<void> read(const json& stage) {
    const std::string type = text_of(stage, "type");
    if (type == "Sequence") {
      for (const json& inner : member(stage, "pretokenizers")) ORRERY_TRY(read(inner));
      return {};
    }
    settle();
    if (type == "ByteLevel") {
      if (flag_of(stage, "add_prefix_space", true)) result_.steps.add(prefix_space_step());
      if (flag_of(stage, "use_regex", true)) result_.steps.add(scanner_step(scan_gpt2));
      result_.ends_in_bytes = true;
      return {};
    }
    if (type == "BertPreTokenizer") return add_bert_words(result_.steps), Result<void>();
    const JsonType<PreTokenizerStepPtr>* found = find_type(kPreTokenizerTypes, type);
    if (!found) return json_unsupported("pre-tokenizer", type);
    ORRERY_ASSIGN(PreTokenizerStepPtr step, found->read(stage));
    result_.steps.add(std::move(step));
    return {};
  }
  JsonPreTokenizer take() { return std::move(result_); }

 private:
  /// Another step follows that of the bytes, and sees their characters.
  void settle() {
    if (result_.ends_in_bytes) result_.steps.add(byte_characters_step());
    result_.ends_in_bytes = false;
  }

  JsonPreTokenizer result_;
};

}  // namespace

std::vector<std::string_view> pre_tokenizer_types() {
  std::vector<std::string_view> names(std::begin(kOthers), std::end(kOthers));
  for (const std::string_view name : names_of(kPreTokenizerTypes)) names.push_back(name);
  return names;
}

Result<JsonPreTokenizer> read_pre_tokenizer(const json& pre_tokenizer) {
  PreTokenizerReader reader;
  if (!pre_tokenizer.is_null()) ORRERY_TRY(reader.read(pre_tokenizer));
  return reader.take();
}

}  // namespace orrery::text
