#include "engine/text/wordpiece.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "engine/text/post_processor.h"
#include "engine/text/unicode.h"

namespace orrery::text {
namespace {

bool is_bert_control(char32_t value) {
  return value != '\t' && value != '\n' && value != '\r' && is_other(value);
}

/// The reference's table of punctuation is that of Unicode 8: what came later is none, and two characters
/// that have changed their kind since still are.
bool is_bert_punctuation(char32_t value) {
  static constexpr std::pair<char32_t, char32_t> kLater[] = {
      {0x61D, 0x61D},     {0x9FD, 0x9FD},     {0xA76, 0xA76},     {0xC77, 0xC77},     {0xC84, 0xC84},
      {0x1B7D, 0x1B7E},   {0x2E43, 0x2E4F},   {0x2E52, 0x2E5D},   {0x10EAD, 0x10EAD}, {0x10F55, 0x10F59},
      {0x10F86, 0x10F89}, {0x1144B, 0x1144F}, {0x1145A, 0x1145B}, {0x1145D, 0x1145D}, {0x11660, 0x1166C},
      {0x116B9, 0x116B9}, {0x1183B, 0x1183B}, {0x11944, 0x11946}, {0x119E2, 0x119E2}, {0x11A3F, 0x11A46},
      {0x11A9A, 0x11A9C}, {0x11A9E, 0x11AA2}, {0x11C41, 0x11C45}, {0x11C70, 0x11C71}, {0x11EF7, 0x11EF8},
      {0x11FFF, 0x11FFF}, {0x12FF1, 0x12FF2}, {0x16E97, 0x16E9A}, {0x16FE2, 0x16FE2}, {0x1E95E, 0x1E95F}};
  if (value == 0x166D || value == 0x111C9) return true;
  const auto later = [&](const auto& range) { return value >= range.first && value <= range.second; };
  return is_punctuation(value) &&
         (value < kLater[0].first || std::none_of(std::begin(kLater), std::end(kLater), later));
}

/// Control characters and U+FFFD go, every white space becomes a space, CJK ideographs get spaces around.
std::string clean(std::string_view text, const WordPieceParts& parts) {
  std::string result;
  result.reserve(text.size() + text.size() / 8);
  for (size_t i = 0; i < text.size();) {
    const CodePoint point = code_point_at(text, i);
    i += point.bytes;
    const char32_t value = point.value;
    if (parts.clean_text && (value == 0 || value == kReplacement || is_bert_control(value))) continue;
    if (parts.clean_text && is_white_space(value)) {
      result += ' ';
    } else if (parts.space_cjk && is_cjk_ideograph(value)) {
      result += ' ';
      append_utf8(result, value);
      result += ' ';
    } else {
      append_utf8(result, value);
    }
  }
  return result;
}

std::string bert_normalize(std::string_view text, const WordPieceParts& parts) {
  std::string result = clean(text, parts);
  if (parts.strip_accents) result = strip_nonspacing_marks(result);
  if (parts.lowercase) result = lowercase(result);
  return result;
}

std::vector<std::string_view> bert_words(std::string_view text) {
  std::vector<std::string_view> words;
  size_t begin = 0;
  const auto flush = [&](size_t end) {
    if (end > begin) words.push_back(text.substr(begin, end - begin));
  };
  for (size_t i = 0; i < text.size();) {
    const CodePoint point = code_point_at(text, i);
    const size_t next = i + point.bytes;
    if (is_white_space(point.value)) {
      flush(i);
      begin = next;
    } else if (is_bert_punctuation(point.value)) {
      flush(i);
      words.push_back(text.substr(i, point.bytes));
      begin = next;
    }
    i = next;
  }
  flush(text.size());
  return words;
}

/// The reference cleans each token by itself, in this order.
void clean_up_token(std::string& token) {
  static constexpr std::pair<std::string_view, std::string_view> kRules[] = {
      {" .", "."},   {" ?", "?"},           {" !", "!"},   {" ,", ","},     {" ' ", "'"},   {" n't", "n't"},
      {" 'm", "'m"}, {" do not", " don't"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
  for (const auto& [from, to] : kRules) token = replace_all(token, from, to);
}

class WordPiece final : public Tokenizer {
 public:
  WordPiece(WordPieceParts parts, Vocabulary vocabulary)
      : parts_(std::move(parts)), vocabulary_(std::move(vocabulary)) {
    for (size_t i = 0; i < vocabulary_.size(); ++i)
      longest_ = std::max(longest_, vocabulary_[static_cast<TokenId>(i)].size());
    for (AddedToken token : parts_.added) {
      if (token.special) special_.insert(token.id);
      if (token.normalized) token.content = bert_normalize(token.content, parts_);
      (token.normalized ? added_normalized_ : added_).add(std::move(token));
    }
  }

  std::string_view kind() const override { return "WordPiece"; }
  int32_t vocabulary() const override { return static_cast<int32_t>(vocabulary_.size()); }

  Encoding encode_pair(std::string_view first, std::string_view second, int64_t limit,
                       bool parse_special) const override {
    return PostProcessor::around(parts_.before, parts_.after, parts_.after, 1)
        .frame_pair(encode(first, false, parse_special), encode(second, false, parse_special),
                    static_cast<size_t>(std::max<int64_t>(0, limit)));
  }

  std::vector<TokenId> encode(std::string_view text, bool add_special, bool parse_special) const override {
    std::vector<TokenId> ids;
    if (add_special) ids = parts_.before;
    for (const AddedTokens::Piece& piece : added_.split(text, parse_special)) {
      if (piece.id >= 0) {
        ids.push_back(piece.id);
        continue;
      }
      const std::string normal = bert_normalize(piece.text, parts_);
      for (const AddedTokens::Piece& inner : added_normalized_.split(normal, parse_special)) {
        if (inner.id >= 0) {
          ids.push_back(inner.id);
        } else {
          for (const std::string_view word : bert_words(inner.text)) spell(word, ids);
        }
      }
    }
    if (add_special) ids.insert(ids.end(), parts_.after.begin(), parts_.after.end());
    return ids;
  }

  std::string piece(TokenId id) const override {
    if (!vocabulary_.has(id)) return {};
    const std::string& token = vocabulary_[id];
    return continues(token) ? token.substr(parts_.continuing_prefix.size()) : token;
  }

  std::string decode(const std::vector<TokenId>& ids, bool skip_special) const override {
    std::string text;
    bool first = true;
    for (const TokenId id : ids) {
      if (!vocabulary_.has(id) || (skip_special && is_special(id))) continue;
      const std::string& token = vocabulary_[id];
      std::string part = token;
      if (!first) part = continues(token) ? token.substr(parts_.continuing_prefix.size()) : " " + token;
      if (parts_.clean_up) clean_up_token(part);
      text += part;
      first = false;
    }
    return text;
  }

  bool is_special(TokenId id) const override { return special_.count(id) > 0; }
  TokenId find(std::string_view token) const override { return vocabulary_.find(token); }
  TokenId bos() const override { return parts_.bos; }
  TokenId eos() const override { return parts_.eos; }
  std::vector<TokenId> end_ids() const override {
    return parts_.eos >= 0 ? std::vector<TokenId>{parts_.eos} : std::vector<TokenId>{};
  }
  int64_t truncate_to() const override { return parts_.truncate_to; }

 private:
  bool continues(const std::string& token) const {
    return !parts_.continuing_prefix.empty() && token.size() > parts_.continuing_prefix.size() &&
           token.starts_with(parts_.continuing_prefix);
  }

  /// Greedy, longest piece first; a word that cannot be spelt to its end is one unknown token.
  void spell(std::string_view word, std::vector<TokenId>& ids) const {
    const size_t mark = ids.size();
    if (static_cast<int64_t>(count_code_points(word)) > parts_.max_word_characters) {
      ids.push_back(parts_.unknown);
      return;
    }
    std::string candidate;
    for (size_t begin = 0; begin < word.size();) {
      const std::string_view prefix = begin == 0 ? std::string_view() : parts_.continuing_prefix;
      size_t length = std::min(word.size() - begin, longest_);
      TokenId id = -1;
      for (; length > 0; --length) {
        candidate.assign(prefix);
        candidate += word.substr(begin, length);
        if ((id = vocabulary_.find(candidate)) >= 0) break;
      }
      if (id < 0) {
        ids.resize(mark);
        ids.push_back(parts_.unknown);
        return;
      }
      ids.push_back(id);
      begin += length;
    }
  }

  WordPieceParts parts_;
  Vocabulary vocabulary_;
  AddedTokens added_, added_normalized_;
  std::unordered_set<TokenId> special_;
  size_t longest_ = 0;
};

}  // namespace

Result<std::shared_ptr<const Tokenizer>> make_wordpiece(WordPieceParts parts) {
  const auto size = static_cast<int64_t>(parts.tokens.size());
  const auto bad = [&](TokenId id) { return id < 0 || id >= size; };
  const auto refuse = [&](std::string_view name, TokenId id) {
    return Error{ErrorCode::corrupt_file,
                 fmt::format("The {} id {} is outside the vocabulary of {} tokens", name, id, size),
                 "WordPiece", "The tokenizer of this model is damaged; get the file again"};
  };
  if (bad(parts.unknown)) return refuse("unknown", parts.unknown);
  for (const auto* around : {&parts.before, &parts.after})
    for (const TokenId id : *around)
      if (bad(id)) return refuse("template", id);
  for (const AddedToken& token : parts.added)
    if (bad(token.id)) return refuse("added token", token.id);
  if (parts.max_word_characters < 1 || parts.max_word_characters > 1'000)
    return Error{ErrorCode::unsupported, "The longest word must be between 1 and 1000 characters",
                 "max_input_chars_per_word", "Use a tokenizer with a usual limit (100)"};
  Vocabulary vocabulary(std::move(parts.tokens));
  return std::shared_ptr<const Tokenizer>(
      std::make_shared<WordPiece>(std::move(parts), std::move(vocabulary)));
}

}  // namespace orrery::text
