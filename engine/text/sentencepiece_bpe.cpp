#include "engine/text/sentencepiece_bpe.h"

#include <algorithm>

#include "engine/text/character_cuts.h"
#include "engine/text/hash.h"
#include "engine/text/merge.h"
#include "engine/text/unicode.h"

namespace orrery::text {
namespace {

constexpr size_t kShortPart = 32;               // symbols; below, searching beats a heap
constexpr size_t kLongestPart = INT32_MAX / 4;  // positions are 32-bit; no word is near that

void place_symbols(std::string_view part, const PieceTable& pieces, std::vector<Scratch::Symbol>& symbols) {
  symbols.clear();
  for (size_t i = 0; i < part.size();) {
    const CodePoint point = code_point_at(part, i);
    const auto at = static_cast<int32_t>(symbols.size());
    const TokenId id = pieces.find_character(part.substr(i, point.bytes), point);
    symbols.push_back({static_cast<uint32_t>(i), point.bytes, id, at - 1, at + 1});
    i += point.bytes;
  }
  if (!symbols.empty()) symbols.back().next = -1;
}

}  // namespace

PreTokenizerStepPtr SentencePieceBpe::cuts() const {
  auto cuts = std::make_shared<CharacterCuts>();
  const Vocabulary& vocabulary = pieces_->vocabulary();
  for (size_t i = 0; i < vocabulary.size(); ++i)
    if (pieces_->spells(static_cast<TokenId>(i))) cuts->add(vocabulary[static_cast<TokenId>(i)]);
  return cuts;
}

Scratch::Offer SentencePieceBpe::offer_of(std::string_view part, Scratch& scratch,
                                          const Scratch::Symbol& left, const Scratch::Symbol& right) const {
  const uint32_t length = left.length + right.length;
  const auto look_up = [&]() -> Scratch::Offer {
    if (length > pieces_->vocabulary().longest()) return {};
    const TokenId id = pieces_->find(part.substr(left.begin, length));
    return id < 0 ? Scratch::Offer{} : Scratch::Offer{pieces_->score(id), id};
  };
  Scratch::Offer found;
  if (left.id < 0 || right.id < 0) {
    found = look_up();
  } else {
    const uint64_t pair = static_cast<uint64_t>(left.id) << 32 | static_cast<uint32_t>(right.id);
    Scratch::Join& kept = scratch.joins[mix(pair) & (Scratch::kJoins - 1)];
    if (kept.pair != pair) kept = {pair, look_up()};
    found = kept.offer;
  }
  if (found.result >= 0 && pieces_->type(found.result) == PieceType::unused)
    scratch.unused_split[found.result] = left.length;
  return found;
}

void SentencePieceBpe::merge_short(std::string_view part, Scratch& scratch) const {
  auto& symbols = scratch.symbols;
  merge_best_first(
      symbols, scratch.offers,
      [&](size_t left) { return offer_of(part, scratch, symbols[left], symbols[left + 1]); },
      [&](size_t left, TokenId id) {
        symbols[left].length += symbols[left + 1].length;
        symbols[left].id = id;
      });
  for (size_t i = 0; i < symbols.size(); ++i)
    symbols[i].next = i + 1 < symbols.size() ? static_cast<int32_t>(i) + 1 : -1;
}

void SentencePieceBpe::merge_long(std::string_view part, Scratch& scratch) const {
  merge_by_heap(scratch, [&](const Scratch::Symbol& left, const Scratch::Symbol& right) {
    return offer_of(part, scratch, left, right);
  });
}

/// An unused token is taken apart again, the way it came together.
void SentencePieceBpe::emit_unused(std::string_view part, const Scratch& scratch,
                                   std::vector<TokenId>& ids) const {
  const TokenId id = pieces_->find(part);
  const auto split = scratch.unused_split.find(id);
  if (id < 0 || pieces_->type(id) != PieceType::unused || split == scratch.unused_split.end()) {
    if (id >= 0)
      ids.push_back(id);
    else
      pieces_->spell_unknown(part, false, ids);
    return;
  }
  emit_unused(part.substr(0, split->second), scratch, ids);
  emit_unused(part.substr(split->second), scratch, ids);
}

void SentencePieceBpe::encode(std::string_view part, Scratch& scratch, std::vector<TokenId>& ids) const {
  for (; part.size() > kLongestPart; part.remove_prefix(kLongestPart))
    encode(part.substr(0, kLongestPart), scratch, ids);
  auto& symbols = scratch.symbols;
  if (scratch.joins.empty()) scratch.joins.resize(Scratch::kJoins);
  scratch.unused_split.clear();
  place_symbols(part, *pieces_, symbols);
  if (symbols.size() <= kShortPart)
    merge_short(part, scratch);
  else
    merge_long(part, scratch);
  bool unknown = false;
  for (int32_t at = symbols.empty() ? -1 : 0; at >= 0; at = symbols[static_cast<size_t>(at)].next) {
    const Scratch::Symbol& symbol = symbols[static_cast<size_t>(at)];
    const std::string_view text = part.substr(symbol.begin, symbol.length);
    if (symbol.id < 0) {
      unknown = pieces_->spell_unknown(text, unknown, ids);
      continue;
    }
    unknown = false;
    if (pieces_->type(symbol.id) == PieceType::unused)
      emit_unused(text, scratch, ids);
    else
      ids.push_back(symbol.id);
  }
}

}  // namespace orrery::text
