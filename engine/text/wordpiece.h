// WordPiece: a word is spelt with the longest pieces that the vocabulary has, from left to right ("play",
// "##ing").
#pragma once

#include <memory>
#include <string>

#include "engine/text/byte_trie.h"
#include "engine/text/model.h"
#include "engine/text/vocabulary.h"

namespace orrery::text {

class WordPiece final : public Model {
 public:
  static constexpr size_t kLongestWord = 100;  // characters, the usual limit
  /// A word of more characters than `longest_word`, or that cannot be spelt to its end, is one `unknown`.
  WordPiece(const Vocabulary& vocabulary, TokenId unknown, std::string_view continuing_prefix,
            size_t longest_word);
  std::string_view kind() const override { return "WordPiece"; }
  void encode(std::string_view word, Scratch& scratch, std::vector<TokenId>& ids) const override;

 private:
  ByteTrie beginnings_, continuations_;  // the latter's without their prefix
  size_t longest_word_;
  TokenId unknown_;
};

/// Each word is a token, or the unknown one.
class WordLevel final : public Model {
 public:
  /// unknown -1: words that are no token are left out.
  WordLevel(std::shared_ptr<const Vocabulary> vocabulary, TokenId unknown)
      : vocabulary_(std::move(vocabulary)), unknown_(unknown) {}
  std::string_view kind() const override { return "word level"; }
  void encode(std::string_view word, Scratch& scratch, std::vector<TokenId>& ids) const override;

 private:
  std::shared_ptr<const Vocabulary> vocabulary_;
  TokenId unknown_;
};

}  // namespace orrery::text
