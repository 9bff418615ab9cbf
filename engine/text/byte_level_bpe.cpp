#include "engine/text/byte_level_bpe.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "engine/text/byte_level.h"
#include "engine/text/post_processor.h"

namespace orrery::text {
namespace {

std::vector<TokenId> joined(std::vector<TokenId> ids, const std::vector<TokenId>& more) {
  ids.insert(ids.end(), more.begin(), more.end());
  return ids;
}

class ByteLevelBpe final : public Tokenizer {
 public:
  ByteLevelBpe(BpeParts parts, Vocabulary vocabulary, Bpe bpe)
      : parts_(std::move(parts)), vocabulary_(std::move(vocabulary)), bpe_(std::move(bpe)) {
    pieces_.reserve(vocabulary_.size());
    for (size_t i = 0; i < vocabulary_.size(); ++i) {
      const std::string& token = vocabulary_[static_cast<TokenId>(i)];
      pieces_.push_back(characters_to_bytes(token).value_or(token));
    }
    for (const AddedToken& token : parts_.added) {
      pieces_[static_cast<size_t>(token.id)] = token.content;
      if (token.special) special_.insert(token.id);
      added_.add(token);
    }
    if (parts_.ignore_merges) index_whole_words();
    add_end(parts_.eos);
    for (const TokenId id : parts_.ends) add_end(id);
  }

  std::string_view kind() const override { return "byte-level BPE"; }
  int32_t vocabulary() const override { return static_cast<int32_t>(vocabulary_.size()); }

  Encoding encode_pair(std::string_view first, std::string_view second, int64_t limit,
                       bool parse_special) const override {
    return PostProcessor::around(parts_.before, joined(parts_.after, parts_.before), parts_.after, 1)
        .frame_pair(encode(first, false, parse_special), encode(second, false, parse_special),
                    static_cast<size_t>(std::max<int64_t>(0, limit)));
  }

  std::vector<TokenId> encode(std::string_view text, bool add_special, bool parse_special) const override {
    std::vector<TokenId> ids;
    ids.reserve(text.size() / 3 + 4);
    if (add_special) ids = parts_.before;
    Bpe::Scratch scratch;
    for (const AddedTokens::Piece& piece : added_.split(text, parse_special)) {
      if (piece.id >= 0) {
        ids.push_back(piece.id);
      } else {
        encode_plain(piece.text, scratch, ids);
      }
    }
    if (add_special) ids.insert(ids.end(), parts_.after.begin(), parts_.after.end());
    return ids;
  }

  std::string piece(TokenId id) const override {
    return vocabulary_.has(id) ? pieces_[static_cast<size_t>(id)] : std::string();
  }

  std::string decode(const std::vector<TokenId>& ids, bool skip_special) const override {
    std::string text;
    for (const TokenId id : ids)
      if (vocabulary_.has(id) && !(skip_special && is_special(id))) text += pieces_[static_cast<size_t>(id)];
    return text;
  }

  bool is_special(TokenId id) const override { return special_.count(id) > 0; }
  TokenId find(std::string_view token) const override { return vocabulary_.find(token); }
  TokenId bos() const override { return parts_.bos; }
  TokenId eos() const override { return parts_.eos; }
  std::vector<TokenId> end_ids() const override { return ends_; }
  int64_t truncate_to() const override { return parts_.truncate_to; }

 private:
  void add_end(TokenId id) {
    if (id >= 0 && std::find(ends_.begin(), ends_.end(), id) == ends_.end()) ends_.push_back(id);
  }

  void index_whole_words() {
    for (size_t i = 0; i < pieces_.size(); ++i)
      if (!pieces_[i].empty() && !special_.count(static_cast<TokenId>(i)))
        whole_words_.insert_or_assign(pieces_[i], static_cast<TokenId>(i));
  }

  void encode_plain(std::string_view text, Bpe::Scratch& scratch, std::vector<TokenId>& ids) const {
    std::string own;  // the text when it is changed first
    for (const NormalForm form : parts_.normal_forms) {
      if (!is_valid_utf8(text)) break;  // bytes that are no text are kept as they are
      own = normalize(text, form);
      text = own;
    }
    if (parts_.prefix_space && !text.empty() && text.front() != ' ') {
      own = " " + std::string(text);
      text = own;
    }
    for (const std::string_view word : parts_.pre_tokenizer.split(text)) {
      if (const auto whole = whole_words_.find(word); whole != whole_words_.end())
        ids.push_back(whole->second);
      else
        bpe_.encode_word(word, parts_.unknown, scratch, ids);
    }
  }

  BpeParts parts_;
  Vocabulary vocabulary_;
  Bpe bpe_;
  AddedTokens added_;
  std::vector<std::string> pieces_;                            // bytes, by id
  std::unordered_map<std::string_view, TokenId> whole_words_;  // keys look into pieces_
  std::unordered_set<TokenId> special_;
  std::vector<TokenId> ends_;
};

Error bad_vocabulary(std::string what, std::string where) {
  return {ErrorCode::corrupt_file, std::move(what), std::move(where),
          "The tokenizer of this model is damaged; get the file again"};
}

std::string shown(std::string_view token) { return "\"" + replace_invalid(token.substr(0, 60)) + "\""; }

Result<void> check_ids(const BpeParts& parts) {
  const auto size = static_cast<int64_t>(parts.tokens.size());
  const auto check = [&](TokenId id, std::string_view name) -> Result<void> {
    if (id < -1 || id >= size)
      return bad_vocabulary(
          fmt::format("The {} id {} is outside the vocabulary of {} tokens", name, id, size), "");
    return {};
  };
  ORRERY_TRY(check(parts.bos, "BOS"));
  ORRERY_TRY(check(parts.eos, "EOS"));
  ORRERY_TRY(check(parts.unknown, "unknown"));
  for (const TokenId id : parts.ends) ORRERY_TRY(check(id, "end"));
  for (const auto* around : {&parts.before, &parts.after})
    for (const TokenId id : *around) ORRERY_TRY(check(id == -1 ? -2 : id, "template"));
  for (const AddedToken& token : parts.added)
    ORRERY_TRY(check(token.id == -1 ? -2 : token.id, "added token"));
  return {};
}

Result<MergeTable> build_merges(const Vocabulary& vocabulary,
                                const std::vector<std::pair<std::string, std::string>>& merges) {
  MergeTable table(merges.size());
  for (size_t rank = 0; rank < merges.size(); ++rank) {
    const auto& [left, right] = merges[rank];
    const TokenId a = vocabulary.find(left), b = vocabulary.find(right),
                  joined = vocabulary.find(left + right);
    if (a < 0 || b < 0 || joined < 0)
      return bad_vocabulary("A merge names a token that is not in the vocabulary",
                            fmt::format("merge {}: {} + {}", rank, shown(left), shown(right)));
    table.insert(a, b, {static_cast<int32_t>(rank), joined});
  }
  return table;
}

}  // namespace

Result<std::shared_ptr<const Tokenizer>> make_byte_level_bpe(BpeParts parts) {
  if (parts.tokens.empty()) return bad_vocabulary("The vocabulary is empty", "");
  ORRERY_TRY(check_ids(parts));
  Vocabulary vocabulary(std::move(parts.tokens));
  std::array<TokenId, 256> byte_ids{};
  bool any = false;
  for (int byte = 0; byte < 256; ++byte) {
    byte_ids[byte] = vocabulary.find(bytes_to_characters(std::string(1, static_cast<char>(byte))));
    any = any || byte_ids[byte] >= 0;
  }
  if (!any) return bad_vocabulary("The vocabulary has no token for any single byte", "");
  ORRERY_ASSIGN(MergeTable merges, build_merges(vocabulary, parts.merges));
  parts.merges = {};
  return std::shared_ptr<const Tokenizer>(std::make_shared<ByteLevelBpe>(
      std::move(parts), std::move(vocabulary), Bpe(byte_ids, std::move(merges))));
}

}  // namespace orrery::text
