#include "engine/text/added_tokens.h"

#include <algorithm>

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
    if (content.empty()) continue;
    const auto first = static_cast<uint8_t>(content[0]);
    std::string& head = heads_[first];
    if (!starts_[first]) head = content;
    head.resize(static_cast<size_t>(
        std::mismatch(head.begin(), head.end(), content.begin(), content.end()).first - head.begin()));
    starts_[first] = true;
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

std::vector<AddedTokens::Piece> AddedTokens::split(std::string_view text, bool parse_special) const {
  std::vector<Piece> pieces;
  size_t plain = 0;
  for (size_t i = 0; i < text.size();) {
    const auto first = static_cast<uint8_t>(text[i]);
    const AddedToken* token =
        starts_[first] && text.substr(i).starts_with(heads_[first]) ? match(text, i, parse_special) : nullptr;
    if (!token) {
      ++i;
      continue;
    }
    size_t begin = i, end = i + token->content.size();
    while (token->strip_left && begin > plain) {
      const CodePoint before = code_point_before(text, begin);
      if (!before.valid || !is_white_space(before.value)) break;
      begin -= before.bytes;
    }
    while (token->strip_right && end < text.size()) {
      const CodePoint after = code_point_at(text, end);
      if (!after.valid || !is_white_space(after.value)) break;
      end += after.bytes;
    }
    if (begin > plain) pieces.push_back({text.substr(plain, begin - plain), -1});
    pieces.push_back({text.substr(i, token->content.size()), token->id});
    plain = i = end;
  }
  if (plain < text.size()) pieces.push_back({text.substr(plain), -1});
  return pieces;
}

}  // namespace orrery::text
