#include "engine/text/sentencepiece_bpe.h"

#include <algorithm>
#include <array>

#include "engine/text/unicode.h"

namespace orrery::text {
namespace {

constexpr size_t kLongestPart = INT32_MAX / 4;  // positions are 32-bit; no word is near that

// The standard heap functions keep the greatest first: highest score, then leftmost.
bool later(const Scratch::Candidate& a, const Scratch::Candidate& b) {
  return a.priority != b.priority ? a.priority < b.priority : a.position > b.position;
}

void place_symbols(std::string_view part, const PieceTable& pieces, std::vector<Scratch::Symbol>& symbols) {
  symbols.clear();
  for (size_t i = 0; i < part.size();) {
    const uint32_t bytes = code_point_at(part, i).bytes;
    const auto at = static_cast<int32_t>(symbols.size());
    symbols.push_back({static_cast<uint32_t>(i), bytes, pieces.find(part.substr(i, bytes)), at - 1, at + 1});
    i += bytes;
  }
  if (!symbols.empty()) symbols.back().next = -1;
}

class Words final : public PreTokenizerStep {
 public:
  explicit Words(const PieceTable& pieces) {
    const Vocabulary& vocabulary = pieces.vocabulary();
    // Without a token of its own a space may become part of a run of unknown text, which no cut may part.
    const bool has_space = pieces.find(kSpaceMark) >= 0;
    if (!has_space) joins_space_.fill(true);
    for (size_t id = 0; has_space && id < vocabulary.size(); ++id) {
      const std::string_view token = vocabulary[static_cast<TokenId>(id)];
      for (size_t at = token.find(kSpaceMark, 1); at != std::string_view::npos;
           at = token.find(kSpaceMark, at + 1))
        joins_space_[static_cast<uint8_t>(token[at - 1])] = true;
    }
  }
  void split(const Segment& segment, Segments& segments) const override {
    const std::string_view text = segment.text;
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = next_cut(text, begin);
      segments.list.push_back({text.substr(begin, end - begin), segment.first && begin == 0});
      begin = end;
    }
  }

 private:
  size_t next_cut(std::string_view text, size_t position) const {
    for (size_t at = text.find(kSpaceMark, position + 1); at != std::string_view::npos;
         at = text.find(kSpaceMark, at + 1))
      if (!joins_space_[static_cast<uint8_t>(text[at - 1])]) return at;
    return text.size();
  }
  std::array<bool, 256> joins_space_{};  // bytes that some token has before a space
};

}  // namespace

PreTokenizerStepPtr sentencepiece_words(const PieceTable& pieces) { return std::make_shared<Words>(pieces); }

void SentencePieceBpe::offer(std::string_view part, Scratch& scratch, int32_t left) const {
  if (left < 0) return;
  const Scratch::Symbol& symbol = scratch.symbols[static_cast<size_t>(left)];
  if (symbol.next < 0) return;
  const uint32_t length = symbol.length + scratch.symbols[static_cast<size_t>(symbol.next)].length;
  if (length > pieces_->vocabulary().longest()) return;
  const TokenId result = pieces_->find(part.substr(symbol.begin, length));
  if (result < 0) return;
  if (pieces_->type(result) == PieceType::unused) scratch.unused_split[result] = symbol.length;
  scratch.candidates.push_back({pieces_->score(result), left, length, result});
  std::push_heap(scratch.candidates.begin(), scratch.candidates.end(), later);
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
  auto& candidates = scratch.candidates;
  candidates.clear();
  scratch.unused_split.clear();
  place_symbols(part, *pieces_, symbols);
  for (size_t i = 0; i + 1 < symbols.size(); ++i) offer(part, scratch, static_cast<int32_t>(i));
  while (!candidates.empty()) {
    std::pop_heap(candidates.begin(), candidates.end(), later);
    const Scratch::Candidate best = candidates.back();
    candidates.pop_back();
    Scratch::Symbol& left = symbols[static_cast<size_t>(best.position)];
    if (left.length == 0 || left.next < 0) continue;  // joined since then
    Scratch::Symbol& right = symbols[static_cast<size_t>(left.next)];
    if (left.length + right.length != best.length) continue;
    left.length = best.length;
    left.id = best.result;
    right.length = 0;
    left.next = right.next;
    if (left.next >= 0) symbols[static_cast<size_t>(left.next)].previous = best.position;
    offer(part, scratch, left.previous);
    offer(part, scratch, best.position);
  }
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
