#include "engine/text/wordpiece.h"

#include <algorithm>

#include "engine/text/unicode.h"

namespace orrery::text {

void WordPiece::encode(std::string_view word, Scratch& scratch, std::vector<TokenId>& ids) const {
  const size_t mark = ids.size();
  if (count_code_points(word) > longest_word_) return ids.push_back(unknown_);
  std::string& candidate = scratch.candidate;
  for (size_t begin = 0; begin < word.size();) {
    candidate.assign(begin == 0 ? "" : continuing_prefix_);
    const size_t prefix = candidate.size();
    const size_t most = vocabulary_->longest() > prefix ? vocabulary_->longest() - prefix : 0;
    size_t length = std::min(word.size() - begin, most);
    candidate += word.substr(begin, length);
    TokenId id = -1;
    for (; length > 0; --length) {
      candidate.resize(prefix + length);
      if ((id = vocabulary_->find_spelling(candidate)) >= 0) break;
    }
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
