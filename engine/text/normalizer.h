// What changes a text before it is cut into words: lower case, normal forms, spaces. As in tokenizer.json, by
// the same names.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace orrery::text {

class Normalizer {
 public:
  virtual ~Normalizer() = default;
  /// Changes one run of text between added tokens in place.
  virtual void apply(std::string& text) const = 0;
};
using NormalizerPtr = std::shared_ptr<const Normalizer>;

NormalizerPtr normalizer_sequence(std::vector<NormalizerPtr> steps);
/// Puts `prefix` before every text that is not empty.
NormalizerPtr prepend_normalizer(std::string prefix);
NormalizerPtr replace_normalizer(std::string from, std::string to);

}  // namespace orrery::text
