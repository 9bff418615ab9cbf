#include "engine/text/pre_tokenizer.h"

#include <algorithm>
#include <array>
#include <span>

namespace orrery::text {
namespace {

// White_Space spelt out: PCRE2's \s also takes U+180E, the reference's does not.
#define ORRERY_SPACES                                                                                      \
  "\\x{9}-\\x{d}\\x{20}\\x{85}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{" \
  "3000}"
#define ORRERY_S "[" ORRERY_SPACES "]"
#define ORRERY_NOT_S "[^" ORRERY_SPACES "]"

constexpr const char* kGpt2 = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^" ORRERY_SPACES
                              "\\p{L}\\p{N}]+|" ORRERY_S "+(?!" ORRERY_NOT_S ")|" ORRERY_S "+";
constexpr const char* kDigit = "\\p{N}";
constexpr const char* kContractions = "(?i:'s|'t|'re|'ve|'m|'ll|'d)|";
constexpr const char* kWordTail = " ?[^" ORRERY_SPACES "\\p{L}\\p{N}]+[\\r\\n]*|" ORRERY_S
                                  "*[\\r\\n]+|" ORRERY_S "+(?!" ORRERY_NOT_S ")|" ORRERY_S "+";
constexpr const char* kO200kUpper =
    "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+";
constexpr const char* kO200kLower =
    "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*";
constexpr const char* kO200kTail = " ?[^" ORRERY_SPACES "\\p{L}\\p{N}]+[\\r\\n/]*|" ORRERY_S
                                   "*[\\r\\n]+|" ORRERY_S "+(?!" ORRERY_NOT_S ")|" ORRERY_S "+";

enum class Family { gpt2, digits_gpt2, llama3, qwen2, o200k, tekken };

struct Named {
  std::string_view name;
  Family family;
};
constexpr std::array kNames = {
    Named{"", Family::gpt2},
    Named{"gpt-2", Family::gpt2},
    Named{"gpt2", Family::gpt2},
    Named{"phi-2", Family::gpt2},
    Named{"olmo", Family::gpt2},
    Named{"jais", Family::gpt2},
    Named{"mpt", Family::gpt2},
    Named{"dbrx", Family::llama3},
    Named{"smaug-bpe", Family::llama3},
    Named{"smollm", Family::digits_gpt2},
    Named{"starcoder", Family::digits_gpt2},
    Named{"refact", Family::digits_gpt2},
    Named{"command-r", Family::digits_gpt2},
    Named{"codeshell", Family::digits_gpt2},
    Named{"exaone", Family::digits_gpt2},
    Named{"llama3", Family::llama3},
    Named{"llama-v3", Family::llama3},
    Named{"llama-bpe", Family::llama3},
    Named{"falcon3", Family::llama3},
    Named{"qwen2", Family::qwen2},
    Named{"deepseek-r1-qwen", Family::qwen2},
    Named{"stablelm2", Family::qwen2},
    Named{"megrez", Family::qwen2},
    Named{"gpt-4o", Family::o200k},
    Named{"llama4", Family::o200k},
    Named{"tekken", Family::tekken},
};

std::vector<std::string> patterns_of(Family family) {
  const std::string word = "[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|";
  switch (family) {
    case Family::gpt2:
      return {kGpt2};
    case Family::digits_gpt2:
      return {kDigit, kGpt2};
    case Family::llama3:
      return {kContractions + word + "\\p{N}{1,3}|" + kWordTail};
    case Family::qwen2:
      return {kContractions + word + "\\p{N}|" + kWordTail};
    case Family::o200k: {
      const std::string ending = "(?i:'s|'t|'re|'ve|'m|'ll|'d)?|";
      return {kO200kUpper + ending + kO200kLower + ending + "\\p{N}{1,3}|" + kO200kTail};
    }
    case Family::tekken:
      return {std::string(kO200kUpper) + "|" + kO200kLower + "|\\p{N}|" + kO200kTail};
  }
  return {};
}

const Named* find_name(std::string_view name) {
  const auto* found =
      std::find_if(kNames.begin(), kNames.end(), [&](const Named& n) { return n.name == name; });
  return found == kNames.end() ? nullptr : found;
}

}  // namespace

std::vector<std::string_view> PreTokenizer::split(std::string_view text) const {
  std::vector<std::string_view> segments;
  if (!text.empty()) segments.push_back(text);
  for (const RegexSplitter& stage : stages_) {
    std::vector<std::string_view> next;
    next.reserve(segments.size() + text.size() / 4);
    for (const std::string_view segment : segments) stage.split(segment, next);
    segments = std::move(next);
  }
  return segments;
}

const std::string& gpt2_pattern() {
  static const std::string pattern = kGpt2;
  return pattern;
}

const std::string& single_digits_pattern() {
  static const std::string pattern = kDigit;
  return pattern;
}

Result<PreTokenizer> pre_tokenizer_named(std::string_view name) {
  const Named* named = find_name(name);
  if (!named) {
    std::string known;
    for (const Named& other : kNames)
      if (!other.name.empty()) known += (known.empty() ? "" : ", ") + std::string(other.name);
    return Error{ErrorCode::unsupported,
                 "The pre-tokenizer \"" + std::string(name.substr(0, 60)) + "\" is not known",
                 "tokenizer.ggml.pre", "Known ones: " + known};
  }
  PreTokenizer result;
  for (const std::string& pattern : patterns_of(named->family)) {
    ORRERY_ASSIGN(RegexSplitter splitter, RegexSplitter::compile(pattern, SplitBehavior::isolated));
    result.add(std::move(splitter));
  }
  return result;
}

bool ignores_merges(std::string_view name) {
  const Named* named = find_name(name);
  return named && (named->family == Family::llama3 || named->family == Family::tekken) && name != "dbrx" &&
         name != "smaug-bpe";
}

}  // namespace orrery::text
