#include "engine/text/bpe.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "engine/text/byte_level.h"
#include "engine/text/character_cuts.h"
#include "engine/text/hash.h"
#include "engine/text/merge.h"
#include "engine/text/piece_table.h"
#include "engine/text/unicode.h"

namespace orrery::text {
namespace {

// Ids are not negative, so that the all-ones key never is a pair.
constexpr uint64_t kFree = ~uint64_t{0};
constexpr std::string_view kReplacementBytes = "\xEF\xBF\xBD";
constexpr size_t kShort = 48;                   // symbols; below, searching beats a heap
constexpr size_t kLongestWord = INT32_MAX / 4;  // positions are 32-bit; no word is near that

uint64_t key_of(TokenId left, TokenId right) {
  return (static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32) | static_cast<uint32_t>(right);
}

std::string shown(std::string_view token) { return "\"" + replace_invalid(token.substr(0, 60)) + "\""; }

Error damaged(std::string what, std::string where) {
  return {ErrorCode::corrupt_file, std::move(what), std::move(where),
          "The tokenizer of this model is damaged; get the file again"};
}

}  // namespace

MergeTable::MergeTable(size_t expected)
    : slots_(std::bit_ceil(expected * 2 + 16), Slot{kFree, {}}),
      mask_(slots_.size() - 1),
      direct_(kDirect * kDirect) {}

size_t MergeTable::slot_of(uint64_t key) const {
  size_t slot = mix(key) & mask_;
  while (slots_[slot].key != kFree && slots_[slot].key != key) slot = (slot + 1) & mask_;
  return slot;
}

void MergeTable::insert(TokenId left, TokenId right, Merge merge) {
  if (is_direct(left, right)) {
    Merge& kept = direct_[direct_place(left, right)];
    if (kept.rank < 0) kept = merge;
    return;
  }
  Slot& slot = slots_[slot_of(key_of(left, right))];
  if (slot.key == kFree) slot = {key_of(left, right), merge};
}

MergeTable::Merge MergeTable::find(TokenId left, TokenId right) const {
  if (is_direct(left, right)) return direct_[direct_place(left, right)];
  const Slot& slot = slots_[slot_of(key_of(left, right))];
  return slot.key == kFree ? Merge{} : slot.merge;
}

Result<std::shared_ptr<const Bpe>> Bpe::make(std::shared_ptr<const Vocabulary> vocabulary,
                                             const std::vector<std::pair<std::string, std::string>>& merges,
                                             BpeOptions options) {
  MergeTable table(merges.size());
  bool joins_unspelt = false;
  for (size_t rank = 0; rank < merges.size(); ++rank) {
    const auto& [left, right] = merges[rank];
    // The right part loses the mark of symbols within a word.
    const std::string_view tail =
        std::string_view(right).substr(std::min(right.size(), options.continuing_prefix.size()));
    const TokenId a = vocabulary->find(left), b = vocabulary->find(right),
                  joined = vocabulary->find(std::string(left).append(tail));
    if (a < 0 || b < 0 || joined < 0)
      return damaged("A merge names a token that is not in the vocabulary",
                     fmt::format("merge {}: {} + {}", rank, shown(left), shown(right)));
    table.insert(a, b, {static_cast<int32_t>(rank), joined});
    joins_unspelt = joins_unspelt || a == options.unknown || b == options.unknown ||
                    byte_of_token(left) >= 0 || byte_of_token(right) >= 0;
  }
  auto bpe = std::shared_ptr<Bpe>(new Bpe(std::move(vocabulary), std::move(table), std::move(options)));
  bpe->joins_unspelt_ = joins_unspelt;
  const auto& bytes = bpe->byte_ids_;
  if (bpe->options_.byte_level && std::all_of(bytes.begin(), bytes.end(), [](TokenId id) { return id < 0; }))
    return damaged("The vocabulary has no token for any single byte", "");
  return std::shared_ptr<const Bpe>(std::move(bpe));
}

Bpe::Bpe(std::shared_ptr<const Vocabulary> vocabulary, MergeTable merges, BpeOptions options)
    : vocabulary_(std::move(vocabulary)), merges_(std::move(merges)), options_(std::move(options)) {
  if (!options_.byte_level) {
    byte_ids_ = byte_token_ids(*vocabulary_);
    return;
  }
  for (int byte = 0; byte < 256; ++byte)
    byte_ids_[static_cast<size_t>(byte)] =
        vocabulary_->find(bytes_to_characters(std::string(1, static_cast<char>(byte))));
}

PreTokenizerStepPtr Bpe::cuts() const {
  // Words of bytes are short as they come; a part of a word is no word that is a token by itself, and has no
  // marks of a word's ends.
  if (options_.byte_level || options_.ignore_merges || joins_unspelt_ ||
      !options_.continuing_prefix.empty() || !options_.word_suffix.empty())
    return nullptr;
  auto cuts = std::make_shared<CharacterCuts>();
  for (size_t i = 0; i < vocabulary_->size(); ++i) {
    const std::string& token = (*vocabulary_)[static_cast<TokenId>(i)];
    if (vocabulary_->find_spelling(token) >= 0) cuts->add(token);
  }
  return cuts;
}

TokenId Bpe::whole_word(std::string_view word) const {
  return options_.byte_level ? vocabulary_->find_spelling(bytes_to_characters(word))
                             : vocabulary_->find_spelling(word);
}

/// A byte without a token becomes the unknown token, or is left out; where the word is not UTF-8, U+FFFD
/// takes its place rather than nothing.
void Bpe::place_bytes(std::string_view word, std::vector<TokenId>& parts) const {
  bool after_unknown = false;
  for (const char c : word) {
    const TokenId id = byte_ids_[static_cast<uint8_t>(c)];
    if (id >= 0) {
      parts.push_back(id);
    } else if (options_.unknown >= 0) {
      if (!after_unknown || !options_.fuse_unknown) parts.push_back(options_.unknown);
    } else if (!is_valid_utf8(word)) {
      for (const char r : kReplacementBytes)
        if (const TokenId part = byte_ids_[static_cast<uint8_t>(r)]; part >= 0) parts.push_back(part);
    }
    after_unknown = id < 0;
  }
}

void Bpe::place_characters(std::string_view word, Scratch& scratch) const {
  std::vector<TokenId>& parts = scratch.parts;
  bool unknown = false;  // an unknown token is due; the reference puts it before the next known symbol
  const auto settle = [&] {
    if (unknown) parts.push_back(options_.unknown);
    unknown = false;
  };
  for (size_t i = 0; i < word.size();) {
    const uint32_t bytes = code_point_at(word, i).bytes;
    std::string& symbol = scratch.candidate;
    symbol.assign(i > 0 ? options_.continuing_prefix : "").append(word.substr(i, bytes));
    i += bytes;
    if (i == word.size()) symbol += options_.word_suffix;
    if (const TokenId id = vocabulary_->find_spelling(symbol); id >= 0) {
      settle();
      parts.push_back(id);
      continue;
    }
    const auto id_of = [&](char c) { return byte_ids_[static_cast<uint8_t>(c)]; };
    if (options_.byte_fallback &&
        std::all_of(symbol.begin(), symbol.end(), [&](char c) { return id_of(c) >= 0; })) {
      for (const char c : symbol) parts.push_back(id_of(c));
    } else if (options_.unknown >= 0) {
      if (!options_.fuse_unknown) settle();
      unknown = true;
    }
  }
  settle();
}

void Bpe::encode(std::string_view word, Scratch& scratch, std::vector<TokenId>& ids) const {
  for (; word.size() > kLongestWord; word.remove_prefix(kLongestWord))
    encode(word.substr(0, kLongestWord), scratch, ids);
  if (options_.ignore_merges ||
      (options_.whole_line_ends && word.find_first_not_of('\n') == std::string_view::npos))
    if (const TokenId id = whole_word(word); id >= 0) return ids.push_back(id);
  scratch.parts.clear();
  if (options_.byte_level)
    place_bytes(word, scratch.parts);
  else
    place_characters(word, scratch);
  if (scratch.parts.size() <= kShort)
    merge_short(scratch);
  else
    merge_long(scratch);
  ids.insert(ids.end(), scratch.parts.begin(), scratch.parts.end());
}

Scratch::Offer Bpe::offer_of(TokenId left, TokenId right) const {
  const MergeTable::Merge merge = merges_.find(left, right);
  return merge.rank < 0 ? Scratch::Offer{} : Scratch::Offer{-static_cast<double>(merge.rank), merge.result};
}

void Bpe::merge_short(Scratch& scratch) const {
  std::vector<TokenId>& parts = scratch.parts;
  merge_best_first(
      parts, scratch.offers, [&](size_t left) { return offer_of(parts[left], parts[left + 1]); },
      [&](size_t left, TokenId id) { parts[left] = id; });
}

void Bpe::merge_long(Scratch& scratch) const {
  auto& symbols = scratch.symbols;
  symbols.clear();
  const auto count = static_cast<int32_t>(scratch.parts.size());
  for (int32_t i = 0; i < count; ++i)
    symbols.push_back({static_cast<uint32_t>(i), 1, scratch.parts[static_cast<size_t>(i)], i - 1,
                       i + 1 < count ? i + 1 : -1});
  merge_by_heap(scratch, [this](const Scratch::Symbol& left, const Scratch::Symbol& right) {
    return offer_of(left.id, right.id);
  });
  scratch.parts.clear();
  for (int32_t at = 0; at >= 0; at = symbols[static_cast<size_t>(at)].next)
    scratch.parts.push_back(symbols[static_cast<size_t>(at)].id);
}

}  // namespace orrery::text
