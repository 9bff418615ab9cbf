#include "engine/text/added_tokens.h"

#include "engine/text/unicode.h"

namespace orrery::text {
namespace {

CodePoint code_point_before(std::string_view text, size_t position) {
  size_t begin = position - 1;
  while (begin > 0 && position - begin < 4 && (static_cast<uint8_t>(text[begin]) & 0xC0U) == 0x80U) --begin;
  const CodePoint point = code_point_at(text, begin);
  return begin + point.bytes == position ? point : CodePoint{};
}

bool stands_alone(std::string_view text, size_t begin, size_t end) {
  if (begin > 0 && is_word_character(code_point_before(text, begin).value)) return false;
  return end >= text.size() || !is_word_character(code_point_at(text, end).value);
}

}  // namespace

AddedTokens::AddedTokens(std::vector<AddedToken> tokens) : tokens_(std::move(tokens)) {
  std::vector<ByteTrie::Entry> entries;
  for (size_t i = 0; i < tokens_.size(); ++i) {
    const std::string& content = tokens_[i].content;
    entries.push_back({content, static_cast<int32_t>(i)});
    if (!content.empty()) starts_[static_cast<uint8_t>(content[0])] = true;
  }
  trie_ = ByteTrie(std::move(entries));
}

const AddedToken* AddedTokens::match(std::string_view text, size_t position, bool parse_special) const {
  const AddedToken* longest = nullptr;
  trie_.walk(text.substr(position), [&](size_t bytes, int32_t place) {
    const AddedToken& token = tokens_[static_cast<size_t>(place)];
    if (token.special && !parse_special) return;
    if (!token.single_word || stands_alone(text, position, position + bytes)) longest = &token;
  });
  return longest;
}

AddedTokens::Match AddedTokens::next(std::string_view text, size_t from, bool parse_special) const {
  for (size_t i = from;; ++i) {
    while (i < text.size() && !starts_[static_cast<uint8_t>(text[i])]) ++i;
    if (i == text.size()) return {};
    const AddedToken* token = match(text, i, parse_special);
    if (!token) continue;
    size_t begin = i, end = i + token->content.size();
    while (token->strip_left && begin > from) {
      const CodePoint before = code_point_before(text, begin);
      if (!before.valid || !is_white_space(before.value)) break;
      begin -= before.bytes;
    }
    while (token->strip_right && end < text.size()) {
      const CodePoint after = code_point_at(text, end);
      if (!after.valid || !is_white_space(after.value)) break;
      end += after.bytes;
    }
    return {token, text.substr(i, token->content.size()), begin, end};
  }
}

}  // namespace orrery::text
