// How tokens become text again: steps over a list of token texts, which are joined at the end. As in
// tokenizer.json, by the same names.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/text/regex.h"

namespace orrery::text {

class DecodeStep {
 public:
  virtual ~DecodeStep() = default;
  /// All tokens of a text; the list may become shorter.
  virtual void apply(std::vector<std::string>& tokens) const = 0;
  /// One token in running text: what it adds to the bytes, whatever stands around it.
  virtual void apply_alone(std::string& token) const = 0;
};

/// Without steps tokens are joined with spaces.
using Decoder = std::vector<std::shared_ptr<const DecodeStep>>;

std::shared_ptr<const DecodeStep> replace_step(std::string from, std::string to);
std::shared_ptr<const DecodeStep> replace_step(Regex pattern, std::string to);
/// "<0xNN>" becomes its byte; a run that is not UTF-8 becomes U+FFFD for each.
std::shared_ptr<const DecodeStep> byte_fallback_step();
std::shared_ptr<const DecodeStep> fuse_step();  // all tokens become one
/// Takes up to `start` and `stop` times `content` from the ends of each token.
std::shared_ptr<const DecodeStep> strip_step(char32_t content, size_t start, size_t stop);
/// Characters of byte_level.h become bytes, all in one text. What has others stays as it is, and bytes that
/// are not UTF-8 stay too.
std::shared_ptr<const DecodeStep> byte_level_step();
/// Tokens but the first lose `prefix` or get a space; `clean_up`: no space before punctuation.
std::shared_ptr<const DecodeStep> wordpiece_step(std::string prefix, bool clean_up);
/// `replacement` becomes a space; in the first token it goes when `drop_first`.
std::shared_ptr<const DecodeStep> metaspace_step(std::string replacement, bool drop_first);
/// `suffix`, which ends a word, becomes a space; in the last token it goes.
std::shared_ptr<const DecodeStep> suffix_step(std::string suffix);

}  // namespace orrery::text
