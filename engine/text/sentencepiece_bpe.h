// SentencePiece's byte pair encoding: of all neighbouring parts whose join is a token, the join with the
// highest score is made first, again and again. What is no token then is spelt in byte tokens. Joins are
// looked up by their text, and by their two ids once they were met.
#pragma once

#include <memory>

#include "engine/text/model.h"
#include "engine/text/piece_table.h"
#include "engine/text/scratch.h"

namespace orrery::text {

class SentencePieceBpe final : public Model {
 public:
  explicit SentencePieceBpe(std::shared_ptr<const PieceTable> pieces) : pieces_(std::move(pieces)) {}
  std::string_view kind() const override { return "SentencePiece BPE"; }
  void encode(std::string_view text, Scratch& scratch, std::vector<TokenId>& ids) const override;
  PreTokenizerStepPtr cuts() const override;

 private:
  Scratch::Offer offer_of(std::string_view part, Scratch& scratch, const Scratch::Symbol& left,
                          const Scratch::Symbol& right) const;
  void merge_short(std::string_view part, Scratch& scratch) const;
  void merge_long(std::string_view part, Scratch& scratch) const;
  void emit_unused(std::string_view part, const Scratch& scratch, std::vector<TokenId>& ids) const;

  std::shared_ptr<const PieceTable> pieces_;
};

}  // namespace orrery::text
