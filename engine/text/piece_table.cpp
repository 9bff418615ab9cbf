#include "engine/text/piece_table.h"

#include <algorithm>

namespace orrery::text {
namespace {

constexpr char kDigits[] = "0123456789ABCDEF";

int digit_of(char c) {
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  const size_t at = std::string_view(kDigits, 16).find(c);
  return at == std::string_view::npos ? -1 : static_cast<int>(at);
}

}  // namespace

std::array<TokenId, 256> byte_token_ids(const Vocabulary& vocabulary) {
  std::array<TokenId, 256> ids{};
  for (int byte = 0; byte < 256; ++byte) {
    const char token[] = {'<', '0', 'x', kDigits[byte >> 4], kDigits[byte & 15], '>'};
    ids[static_cast<size_t>(byte)] = vocabulary.find({token, sizeof token});
  }
  return ids;
}

int byte_of_token(std::string_view token) {
  if (token.size() != 6 || !token.starts_with("<0x") || token[5] != '>') return -1;
  const int high = digit_of(token[3]), low = digit_of(token[4]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

PieceTable::PieceTable(std::shared_ptr<const Vocabulary> vocabulary, std::vector<double> scores,
                       std::vector<PieceType> types, TokenId unknown, bool byte_fallback)
    : vocabulary_(std::move(vocabulary)),
      scores_(std::move(scores)),
      types_(std::move(types)),
      byte_ids_(byte_token_ids(*vocabulary_)),
      unknown_(unknown),
      byte_fallback_(byte_fallback),
      characters_(0x10000, -1) {
  for (size_t i = 0; i < vocabulary_->size(); ++i) {
    const std::string& text = (*vocabulary_)[static_cast<TokenId>(i)];
    if (text.empty() || text.size() > 3) continue;
    const CodePoint point = code_point_at(text, 0);
    if (point.valid && point.bytes == text.size()) characters_[point.value] = find(text);
  }
}

TokenId PieceTable::find(std::string_view text) const {
  const TokenId id = vocabulary_->find(text);
  return id >= 0 && spells(id) ? id : -1;
}

bool PieceTable::spell_unknown(std::string_view part, bool after_unknown, std::vector<TokenId>& ids) const {
  const auto id_of = [&](char c) { return byte_ids_[static_cast<uint8_t>(c)]; };
  if (byte_fallback_ && std::all_of(part.begin(), part.end(), [&](char c) { return id_of(c) >= 0; })) {
    for (const char c : part) ids.push_back(id_of(c));
    return false;
  }
  if (!after_unknown && unknown_ >= 0) ids.push_back(unknown_);
  return true;
}

}  // namespace orrery::text
