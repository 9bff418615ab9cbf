// The files of a tokenizer as a folder keeps them where it has no tokenizer.json, and what they say of the
// tokens that stand beside the vocabulary: as transformers reads them.
#pragma once

#include <functional>

#include "engine/text/added_tokens.h"
#include "engine/text/tokenizer_json_reader.h"

namespace orrery::text {

/// A class of transformers that reads such folders.
struct TokenizerClass {
  enum class Kind : uint8_t { wordpiece, byte_level, sentencepiece };
  enum class Frame : uint8_t {
    bert,
    roberta,
    ends
  };                      // CLS A SEP, BERT's pair or RoBERTa's; BOS A EOS if asked
  std::string_view name;  // without "Tokenizer" and "Fast"
  Kind kind;
  Frame frame;
  // Tokens that the folder need not name; empty: none.
  std::string_view bos, eos, unknown, separator, padding, classifier, mask;
  std::string_view pattern = {};  // byte level: cuts words in the place of GPT-2's
  bool composes = false;          // byte level: the text is brought to normal form C
};

/// The class that the folder names, else the usual one of its model's type; refused by name when not known.
Result<const TokenizerClass*> class_of(const nlohmann::json& config, std::string_view model_type,
                                       TokenizerClass::Kind kind);

/// The names that transformers has for the classes, in order.
std::vector<std::string> class_names();

/// What tokenizer_config.json, special_tokens_map.json and added_tokens.json say.
class TokenizerSettings {
 public:
  static Result<TokenizerSettings> read(const TokenizerFiles& files);

  const nlohmann::json& config() const { return config_; }
  /// The token that is called so ("cls_token"), or `usual`. Empty: none.
  std::string special(const char* name, std::string_view usual) const;
  /// All that stand beside the vocabulary, with ids past `vocabulary` where the files give none; of those
  /// that it has, `find` says the id (-1: not there).
  Result<std::vector<AddedToken>> added(const TokenizerClass& kind, size_t vocabulary,
                                        const std::function<TokenId(std::string_view)>& find) const;

 private:
  nlohmann::json config_, map_, added_;
};

}  // namespace orrery::text
