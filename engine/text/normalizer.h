// What changes a text before it is cut into words: lower case, normal forms, spaces. As in tokenizer.json, by
// the same names.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/text/regex.h"
#include "engine/text/unicode.h"

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
NormalizerPtr replace_normalizer(Regex pattern, std::string to);
/// Text that is not UTF-8 stays as it is.
NormalizerPtr form_normalizer(NormalForm form);
NormalizerPtr lowercase_normalizer();
NormalizerPtr strip_normalizer(bool left, bool right);  // white space at the ends
NormalizerPtr strip_accents_normalizer();               // every combining mark goes
NormalizerPtr nmt_normalizer();                         // control characters go, odd spaces become spaces
NormalizerPtr byte_characters_normalizer();             // each byte becomes its character of byte_level.h

struct BertNormalization {
  bool clean_text = true;     // control characters go, every white space becomes a space
  bool space_cjk = true;      // ideographs get spaces around
  bool strip_accents = true;  // normal form D without nonspacing marks
  bool lowercase = true;
};
NormalizerPtr bert_normalizer(const BertNormalization& options);

}  // namespace orrery::text
