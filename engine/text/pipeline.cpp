#include "engine/text/pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_set>

#include "engine/text/unicode.h"

namespace orrery::text {
namespace {

/// Spells words some places after where they are found: the cache of words is larger than the processor's
/// nearest, and is asked ahead.
class WordSpeller final : public SegmentSink {
 public:
  WordSpeller(const Model& model, Scratch& scratch, std::vector<TokenId>& ids)
      : model_(model), scratch_(scratch), ids_(ids) {}

  void take(const Segment& segment) override {
    if (count_ == kAhead) spell_oldest();
    Word& word = words_[(oldest_ + count_++) % kAhead];
    word.text = segment.text;
    if (word.text.size() > WordCache::kLongest) return;
    word.key = WordCache::Key(word.text);
    scratch_.cache.prefetch(word.key);
  }
  void settle() override {
    while (count_ > 0) spell_oldest();
  }

 private:
  static constexpr size_t kAhead = 8;
  struct Word {
    std::string_view text;
    WordCache::Key key;  // of a short one
  };

  void spell_oldest() {
    const Word& word = words_[oldest_];
    oldest_ = (oldest_ + 1) % kAhead;
    --count_;
    if (word.text.size() > WordCache::kLongest) return model_.encode(word.text, scratch_, ids_);
    if (scratch_.cache.find(word.key, ids_)) return;
    const size_t mark = ids_.size();
    model_.encode(word.text, scratch_, ids_);
    scratch_.cache.store(word.key, ids_.data() + mark, ids_.size() - mark);
  }

  const Model& model_;
  Scratch& scratch_;
  std::vector<TokenId>& ids_;
  std::array<Word, kAhead> words_;
  size_t oldest_ = 0, count_ = 0;
};

class Pipeline final : public Tokenizer {
 public:
  explicit Pipeline(PipelineParts parts) : parts_(std::move(parts)) {
    std::vector<AddedToken> plain, normalized;
    for (const AddedToken& token : parts_.added) {
      if (token.special) special_.insert(token.id);
      (token.normalized ? normalized : plain).push_back(token);
      if (token.normalized) written_.insert_or_assign(token.id, token.content);
    }
    added_ = AddedTokens(std::move(plain));
    added_normalized_ = AddedTokens(std::move(normalized));
    add_end(parts_.eos);
    for (const TokenId id : parts_.ends) add_end(id);
    drops_first_space_ = decodes_without_space();
  }

  std::string_view kind() const override { return parts_.model->kind(); }
  int32_t vocabulary() const override { return static_cast<int32_t>(parts_.vocabulary->size()); }

  std::vector<TokenId> encode(std::string_view text, bool add_special, bool parse_special) const override {
    std::vector<TokenId> ids = spell(text, parse_special);
    return add_special ? parts_.post_processor.frame_single(std::move(ids)).ids : ids;
  }

  Encoding encode_pair(std::string_view first, std::string_view second, int64_t limit,
                       bool parse_special) const override {
    return parts_.post_processor.frame_pair(spell(first, parse_special), spell(second, parse_special),
                                            static_cast<size_t>(std::max<int64_t>(0, limit)));
  }

  std::string piece(TokenId id) const override {
    if (!parts_.vocabulary->has(id)) return {};
    std::string token = written(id);
    for (const auto& step : parts_.decoder) step->apply_alone(token);
    return token;
  }

  std::string decode(const std::vector<TokenId>& ids, bool skip_special) const override {
    std::vector<std::string> tokens;
    for (const TokenId id : ids)
      if (parts_.vocabulary->has(id) && !(skip_special && is_special(id))) tokens.push_back(written(id));
    for (const auto& step : parts_.decoder) step->apply(tokens);
    return fmt::format("{}", fmt::join(tokens, parts_.decoder.empty() ? " " : ""));
  }

  bool is_special(TokenId id) const override { return special_.count(id) > 0; }
  TokenId find(std::string_view token) const override { return parts_.vocabulary->find(token); }
  TokenId bos() const override { return parts_.bos; }
  TokenId eos() const override { return parts_.eos; }
  std::vector<TokenId> end_ids() const override { return ends_; }
  bool drops_first_space() const override { return drops_first_space_; }
  int64_t truncate_to() const override { return parts_.truncate_to; }

 private:
  void add_end(TokenId id) {
    if (id >= 0 && std::find(ends_.begin(), ends_.end(), id) == ends_.end()) ends_.push_back(id);
  }

  /// Asks the first token that begins with a space.
  bool decodes_without_space() const {
    for (size_t i = 0; i < parts_.vocabulary->size(); ++i) {
      const auto id = static_cast<TokenId>(i);
      if ((*parts_.vocabulary)[id].size() > kSpaceMark.size() && written(id).starts_with(kSpaceMark))
        return piece(id).starts_with(' ') && !decode({id}, false).starts_with(' ');
    }
    return false;
  }

  const std::string& written(TokenId id) const {
    const auto found = written_.find(id);
    return found != written_.end() ? found->second : (*parts_.vocabulary)[id];
  }

  std::vector<TokenId> spell(std::string_view text, bool parse_special) const {
    std::vector<TokenId> ids;
    ids.reserve(text.size() / 3 + 4);
    std::unique_ptr<Scratch> scratch = scratches_.take();
    added_.split(text, parse_special, [&](const AddedTokens::Piece& piece) {
      if (piece.id >= 0)
        ids.push_back(piece.id);
      else
        spell_plain(piece.text, piece.text.data() == text.data(), parse_special, *scratch, ids);
    });
    scratches_.give(std::move(scratch));
    return ids;
  }

  /// A run of text between the added tokens that are looked for in the text as it was written.
  void spell_plain(std::string_view text, bool first, bool parse_special, Scratch& scratch,
                   std::vector<TokenId>& ids) const {
    std::string normal;
    if (parts_.normalizer) {
      normal = text;
      parts_.normalizer->apply(normal);
      text = normal;
    }
    added_normalized_.split(text, parse_special, [&](const AddedTokens::Piece& piece) {
      if (piece.id >= 0) return ids.push_back(piece.id);
      WordSpeller words(*parts_.model, scratch, ids);
      parts_.pre_tokenizer.split({piece.text, first && piece.text.data() == text.data()}, words);
    });
  }

  PipelineParts parts_;
  AddedTokens added_, added_normalized_;
  std::unordered_set<TokenId> special_;
  std::unordered_map<TokenId, std::string> written_;  // added tokens that are looked for in normalised text
  std::vector<TokenId> ends_;
  bool drops_first_space_ = false;
  mutable ScratchPool scratches_;
};

Result<void> check_ids(const PipelineParts& parts) {
  const auto size = static_cast<int64_t>(parts.vocabulary->size());
  const auto check = [&](int64_t id, int64_t lowest, std::string_view name) -> Result<void> {
    if (id >= lowest && id < size) return {};
    return Error{ErrorCode::corrupt_file,
                 fmt::format("The {} id {} is outside the vocabulary of {} tokens", name, id, size), "",
                 "The tokenizer of this model is damaged; get the file again"};
  };
  ORRERY_TRY(check(parts.bos, -1, "BOS"));
  ORRERY_TRY(check(parts.eos, -1, "EOS"));
  for (const TokenId id : parts.ends) ORRERY_TRY(check(id, -1, "end"));
  for (const auto* items : {&parts.post_processor.single, &parts.post_processor.pair})
    for (const PostProcessor::Item& item : *items)
      if (item.kind == PostProcessor::Item::Kind::token) ORRERY_TRY(check(item.id, 0, "template"));
  for (const AddedToken& token : parts.added) ORRERY_TRY(check(token.id, 0, "added token"));
  return {};
}

}  // namespace

std::vector<TokenId> well_known_ends(const std::vector<AddedToken>& added) {
  static constexpr std::string_view kEnds[] = {
      "<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|eom_id|>", "<|end_of_text|>",
      "<|end|>",    "<end_of_turn>", "</s>",       "<|return|>", "<|end_of_turn|>",
      "<EOT>",      "<eos>",         "<turn|>"};
  std::vector<TokenId> ends;
  for (const AddedToken& token : added)
    if (token.special && std::find(std::begin(kEnds), std::end(kEnds), token.content) != std::end(kEnds))
      ends.push_back(token.id);
  return ends;
}

Result<std::shared_ptr<const Tokenizer>> make_pipeline(PipelineParts parts) {
  ORRERY_TRY(check_ids(parts));
  if (auto cuts = parts.model->cuts()) parts.pre_tokenizer.add(std::move(cuts));
  return std::shared_ptr<const Tokenizer>(std::make_shared<Pipeline>(std::move(parts)));
}

}  // namespace orrery::text
