// How tokens become text again: steps over a list of token texts, which are joined at the end. As in
// tokenizer.json, by the same names.
#pragma once

#include <memory>
#include <string>
#include <vector>

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
/// "<0xNN>" becomes its byte; a run that is not UTF-8 becomes U+FFFD for each.
std::shared_ptr<const DecodeStep> byte_fallback_step();
std::shared_ptr<const DecodeStep> fuse_step();  // all tokens become one
/// Takes up to `start` and `stop` times `content` from the ends of each token.
std::shared_ptr<const DecodeStep> strip_step(char32_t content, size_t start, size_t stop);

}  // namespace orrery::text
