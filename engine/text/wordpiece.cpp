#include "engine/text/wordpiece.h"

#include "engine/text/unicode.h"

namespace orrery::text {

WordPiece::WordPiece(const Vocabulary& vocabulary, TokenId unknown, std::string_view continuing_prefix,
                     size_t longest_word)
    : longest_word_(longest_word), unknown_(unknown) {
  std::vector<ByteTrie::Entry> beginnings, continuations;
  for (size_t i = 0; i < vocabulary.size(); ++i) {
    const auto id = static_cast<TokenId>(i);
    const std::string_view token = vocabulary[id];
    if (vocabulary.find_spelling(token) != id) continue;
    beginnings.push_back({token, id});
    if (token.starts_with(continuing_prefix))
      continuations.push_back({token.substr(continuing_prefix.size()), id});
  }
  beginnings_ = ByteTrie(std::move(beginnings));
  continuations_ = ByteTrie(std::move(continuations));
}

void WordPiece::encode(std::string_view word, Scratch&, std::vector<TokenId>& ids) const {
  const size_t mark = ids.size();
  if (count_code_points(word) > longest_word_) return ids.push_back(unknown_);
  for (size_t begin = 0; begin < word.size();) {
    size_t length = 0;
    TokenId id = -1;
    (begin == 0 ? beginnings_ : continuations_).walk(word.substr(begin), [&](size_t bytes, TokenId found) {
      length = bytes;
      id = found;
    });
    if (id < 0) {
      ids.resize(mark);
      return ids.push_back(unknown_);
    }
    ids.push_back(id);
    begin += length;
  }
}

void WordLevel::encode(std::string_view word, Scratch&, std::vector<TokenId>& ids) const {
  const TokenId id = vocabulary_->find_spelling(word);
  if (id >= 0 || unknown_ >= 0) ids.push_back(id >= 0 ? id : unknown_);
}

}  // namespace orrery::text
