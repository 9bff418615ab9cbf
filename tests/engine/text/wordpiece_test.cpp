#include "engine/text/wordpiece.h"

#include <gtest/gtest.h>

#include "test_models.h"

namespace orrery::text {
namespace {

using Ids = std::vector<TokenId>;

WordPieceParts small() {
  WordPieceParts parts;
  parts.tokens = {"[UNK]", "[CLS]", "[SEP]", "un", "##able", "##a", "##b", "able", "!", "\xE4\xB8\xAD"};
  parts.unknown = 0;
  parts.before = {1};
  parts.after = {2};
  return parts;
}

std::shared_ptr<const Tokenizer> make(WordPieceParts parts) {
  auto made = make_wordpiece(std::move(parts));
  EXPECT_TRUE(made.ok());
  return made.ok() ? *made : nullptr;
}

TEST(WordPiece, LongestPieceFirst) {
  const auto tokenizer = make(small());
  EXPECT_EQ(tokenizer->encode("unable", true), (Ids{1, 3, 4, 2}));
  EXPECT_EQ(tokenizer->encode("unab!", false), (Ids{3, 5, 6, 8}));
  EXPECT_EQ(tokenizer->encode("unx able", false), (Ids{0, 7}));  // one unknown for the whole word
}

TEST(WordPiece, Normalizes) {
  const auto tokenizer = make(small());
  EXPECT_EQ(tokenizer->encode("  \xC3\x9AN\xE2\x80\x8B"
                              "able\t",
                              false),
            (Ids{3, 4}));
  EXPECT_EQ(tokenizer->encode("un\xE4\xB8\xAD"
                              "able",
                              false),
            (Ids{3, 9, 7}));
  WordPieceParts cased = small();
  cased.lowercase = cased.strip_accents = false;
  EXPECT_EQ(make(std::move(cased))->encode("UN able", false), (Ids{0, 7}));
}

TEST(WordPiece, PunctuationIsTheReferences) {
  const auto tokenizer = make(small());
  EXPECT_EQ(tokenizer->encode("un\xE2\x80\xA6"
                              "able",
                              false),
            (Ids{3, 0, 7}));  // U+2026 stands alone
  EXPECT_EQ(tokenizer->encode("un\xE2\xB9\x83"
                              "able",
                              false),
            (Ids{0}));  // U+2E43, of Unicode 9, does not
}

TEST(WordPiece, LongWordsAreUnknown) {
  WordPieceParts parts = small();
  parts.max_word_characters = 4;
  EXPECT_EQ(make(std::move(parts))->encode("unable unab", false), (Ids{0, 3, 5, 6}));
}

TEST(WordPiece, RefusesDamage) {
  WordPieceParts unknown = small();
  unknown.unknown = 77;
  EXPECT_FALSE(make_wordpiece(std::move(unknown)).ok());
  WordPieceParts around = small();
  around.after = {-3};
  EXPECT_FALSE(make_wordpiece(std::move(around)).ok());
  WordPieceParts limit = small();
  limit.max_word_characters = 0;
  EXPECT_FALSE(make_wordpiece(std::move(limit)).ok());
}

TEST(WordPiece, GgufSpellingGivesTheSameIds) {
  // The GGUF form of the same vocabulary: word starts carry U+2581, continuations nothing.
  const auto reference = test::minilm();
  std::vector<std::string> tokens;
  std::vector<int64_t> types;
  const auto file = nlohmann::json::parse(test::minilm_tokenizer_json());
  const auto& vocabulary = file["model"]["vocab"];
  tokens.resize(vocabulary.size());
  for (const auto& [token, id] : vocabulary.items()) {
    const bool special = token.starts_with('[') && token.ends_with(']');
    tokens[id.get<size_t>()] = token.starts_with("##") && token.size() > 2 ? token.substr(2)
                               : special                                   ? token
                                                                           : "\xE2\x96\x81" + token;
  }
  types.assign(tokens.size(), 1);
  for (const int id : {0, 100, 101, 102, 103}) types[static_cast<size_t>(id)] = 3;
  Metadata metadata;
  metadata.set("tokenizer.ggml.model", std::string("bert"));
  metadata.set("tokenizer.ggml.tokens", tokens);
  metadata.set("tokenizer.ggml.token_type", types);
  metadata.set("tokenizer.ggml.unknown_token_id", int64_t{100});
  metadata.set("tokenizer.ggml.cls_token_id", int64_t{101});
  metadata.set("tokenizer.ggml.seperator_token_id", int64_t{102});
  const auto made = tokenizer_from_gguf(metadata);
  ASSERT_TRUE(made.ok()) << made.error().to_string();
  for (const auto& item : test::golden("minilm.json", "tokenize"))
    EXPECT_EQ((*made)->encode(item["text"].get<std::string>(), true), item["ids"].get<Ids>());
}

}  // namespace
}  // namespace orrery::text
