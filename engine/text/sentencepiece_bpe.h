// SentencePiece's byte pair encoding: of all neighbouring parts whose join is a token, the join with the
// highest score is made first, again and again. What is no token then is spelt in byte tokens.
#pragma once

#include <array>
#include <memory>

#include "engine/text/model.h"
#include "engine/text/piece_table.h"

namespace orrery::text {

class SentencePieceBpe final : public Model {
 public:
  explicit SentencePieceBpe(std::shared_ptr<const PieceTable> pieces);
  std::string_view kind() const override { return "SentencePiece BPE"; }
  void encode(std::string_view text, Scratch& scratch, std::vector<TokenId>& ids) const override;

 private:
  void encode_part(std::string_view part, Scratch& scratch, std::vector<TokenId>& ids) const;
  void offer(std::string_view part, Scratch& scratch, int32_t left) const;
  void emit_unused(std::string_view part, const Scratch& scratch, std::vector<TokenId>& ids) const;
  size_t next_cut(std::string_view text, size_t position) const;

  std::shared_ptr<const PieceTable> pieces_;
  std::array<bool, 256> joins_space_{};  // bytes that some token has before a U+2581
};

}  // namespace orrery::text
