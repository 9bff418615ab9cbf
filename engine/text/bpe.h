// Byte pair encoding: of all neighbouring pairs the one with the lowest rank is joined first, again and
// again. Long words go through a heap of pairs over a linked list: n log n for n symbols.
#pragma once

#include <array>
#include <memory>
#include <string>

#include "engine/text/model.h"
#include "engine/text/vocabulary.h"

namespace orrery::text {

/// From a pair of ids to its merge: an open-addressed table, and a direct one for the lowest ids, which most
/// models give to the single bytes that every word begins as.
class MergeTable {
 public:
  struct Merge {
    int32_t rank = -1;  // lower is earlier; -1: no such merge
    TokenId result = -1;
  };
  explicit MergeTable(size_t expected);
  /// Of equal pairs the first one counts.
  void insert(TokenId left, TokenId right, Merge merge);
  Merge find(TokenId left, TokenId right) const;

 private:
  struct Slot {
    uint64_t key = 0;
    Merge merge;
  };
  static constexpr size_t kDirect = 320;
  static bool is_direct(TokenId left, TokenId right) {
    return static_cast<size_t>(left) < kDirect && static_cast<size_t>(right) < kDirect;
  }
  static size_t direct_place(TokenId left, TokenId right) {
    return static_cast<size_t>(left) * kDirect + static_cast<size_t>(right);
  }
  size_t slot_of(uint64_t key) const;
  std::vector<Slot> slots_;
  size_t mask_ = 0;
  std::vector<Merge> direct_;
};

struct BpeOptions {
  bool byte_level = false;        // words are bytes, tokens are written in the characters of byte_level.h
  std::string continuing_prefix;  // of symbols that do not start their word
  std::string word_suffix;        // of the symbol that ends it
  TokenId unknown = -1;           // for symbols without a token; -1: they are left out
  bool fuse_unknown = false;      // one unknown for a run
  bool byte_fallback = false;     // "<0xNN>" for them, before `unknown`
  bool ignore_merges = false;     // a word that is a token is that token
  bool whole_line_ends = false;   // so is a word of line ends, at least
};

class Bpe final : public Model {
 public:
  /// merges: pairs of tokens in the order of their ranks. Refuses those of tokens that the vocabulary has
  /// not.
  static Result<std::shared_ptr<const Bpe>> make(
      std::shared_ptr<const Vocabulary> vocabulary,
      const std::vector<std::pair<std::string, std::string>>& merges, BpeOptions options);

  std::string_view kind() const override { return options_.byte_level ? "byte-level BPE" : "BPE"; }
  void encode(std::string_view word, Scratch& scratch, std::vector<TokenId>& ids) const override;
  PreTokenizerStepPtr cuts() const override;

 private:
  Bpe(std::shared_ptr<const Vocabulary> vocabulary, MergeTable merges, BpeOptions options);
  TokenId whole_word(std::string_view word) const;
  void place_bytes(std::string_view word, std::vector<TokenId>& parts) const;
  void place_characters(std::string_view word, Scratch& scratch) const;
  void merge_short(Scratch& scratch) const;
  void merge_long(Scratch& scratch) const;
  Scratch::Offer offer_of(TokenId left, TokenId right) const;

  std::shared_ptr<const Vocabulary> vocabulary_;
  MergeTable merges_;
  BpeOptions options_;
  bool joins_unspelt_ = false;         // a merge takes what stands for characters without a token
  std::array<TokenId, 256> byte_ids_;  // byte level: of each byte; else of its "<0xNN>"
};

}  // namespace orrery::text
