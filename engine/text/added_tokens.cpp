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

void AddedTokens::add(AddedToken token) {
  if (token.content.empty()) return;
  uint32_t node = 0;
  for (const char c : token.content) {
    const uint64_t key = (static_cast<uint64_t>(node) << 8) | static_cast<uint8_t>(c);
    const auto [edge, inserted] = edges_.try_emplace(key, static_cast<uint32_t>(token_at_.size()));
    if (inserted) token_at_.push_back(-1);
    node = edge->second;
  }
  token_at_[node] = static_cast<int32_t>(tokens_.size());
  starts_[static_cast<uint8_t>(token.content[0])] = true;
  tokens_.push_back(std::move(token));
}

const AddedToken* AddedTokens::match(std::string_view text, size_t position, bool parse_special) const {
  const AddedToken* longest = nullptr;
  uint32_t node = 0;
  for (size_t i = position; i < text.size(); ++i) {
    const auto edge = edges_.find((static_cast<uint64_t>(node) << 8) | static_cast<uint8_t>(text[i]));
    if (edge == edges_.end()) break;
    node = edge->second;
    if (token_at_[node] < 0) continue;
    const AddedToken& token = tokens_[static_cast<size_t>(token_at_[node])];
    if (token.special && !parse_special) continue;
    if (token.single_word && !stands_alone(text, position, i + 1)) continue;
    longest = &token;
  }
  return longest;
}

std::vector<AddedTokens::Piece> AddedTokens::split(std::string_view text, bool parse_special) const {
  std::vector<Piece> pieces;
  size_t plain = 0;
  for (size_t i = 0; i < text.size();) {
    const AddedToken* token =
        starts_[static_cast<uint8_t>(text[i])] ? match(text, i, parse_special) : nullptr;
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
