#include <gtest/gtest.h>

#include "test_models.h"

namespace orrery::text {
namespace {

using Ids = std::vector<TokenId>;

nlohmann::json small_file() {
  return nlohmann::json::parse(R"({
    "added_tokens":[{"id":0,"content":"[UNK]","special":true},{"id":1,"content":"[CLS]","special":true},
                    {"id":2,"content":"[SEP]","special":true}],
    "normalizer":{"type":"BertNormalizer"}, "pre_tokenizer":{"type":"BertPreTokenizer"},
    "post_processor":{"type":"BertProcessing","cls":["[CLS]",1],"sep":["[SEP]",2]},
    "decoder":{"type":"WordPiece","prefix":"##","cleanup":true},
    "model":{"type":"WordPiece","unk_token":"[UNK]","vocab":{"[UNK]":0,"[CLS]":1,"[SEP]":2,"un":3,"##able":4,
             "##a":5,"##b":6,"able":7,"!":8,"\u4e2d":9}}})");
}

std::shared_ptr<const Tokenizer> make(const nlohmann::json& file) {
  auto made = tokenizer_from_json(file.dump());
  EXPECT_TRUE(made.ok()) << (made.ok() ? "" : made.error().to_string());
  return made.ok() ? *made : nullptr;
}

TEST(WordPiece, LongestPieceFirst) {
  const auto tokenizer = make(small_file());
  EXPECT_EQ(tokenizer->encode("unable", true), (Ids{1, 3, 4, 2}));
  EXPECT_EQ(tokenizer->encode("unab!", false), (Ids{3, 5, 6, 8}));
  EXPECT_EQ(tokenizer->encode("unx able", false), (Ids{0, 7}));  // one unknown for the whole word
}

TEST(WordPiece, Normalizes) {
  const auto tokenizer = make(small_file());
  EXPECT_EQ(tokenizer->encode("  \xC3\x9AN\xE2\x80\x8B"
                              "able\t",
                              false),
            (Ids{3, 4}));
  EXPECT_EQ(tokenizer->encode("un\xE4\xB8\xAD"
                              "able",
                              false),
            (Ids{3, 9, 7}));
  auto cased = small_file();
  cased["normalizer"]["lowercase"] = false;
  EXPECT_EQ(make(cased)->encode("UN able", false), (Ids{0, 7}));
}

TEST(WordPiece, PunctuationIsTheReferences) {
  const auto tokenizer = make(small_file());
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
  auto file = small_file();
  file["model"]["max_input_chars_per_word"] = 6;
  EXPECT_EQ(make(file)->encode("unable", false), (Ids{3, 4}));
  EXPECT_EQ(make(file)->encode("unablea", false), Ids{0});
}

TEST(WordPiece, PiecesAndTexts) {
  const auto tokenizer = make(small_file());
  EXPECT_EQ(tokenizer->piece(4), "able");
  EXPECT_EQ(tokenizer->decode({1, 3, 4, 8, 7, 2}, true), "unable! able");
  EXPECT_EQ(tokenizer->eos(), 2);
  EXPECT_EQ(tokenizer->end_ids(), Ids{2});
}

TEST(WordPiece, RefusesDamage) {
  const std::pair<const char*, const char*> changes[] = {{"/model/unk_token", R"("[NONE]")"},
                                                         {"/post_processor/cls", R"(["[CLS]",10])"},
                                                         {"/added_tokens/0/id", "-1"},
                                                         {"/model/max_input_chars_per_word", "0"},
                                                         {"/model/max_input_chars_per_word", "1000000"}};
  for (const auto& [pointer, value] : changes) {
    auto file = small_file();
    file[nlohmann::json::json_pointer(pointer)] = nlohmann::json::parse(value);
    EXPECT_FALSE(tokenizer_from_json(file.dump()).ok()) << pointer;
  }
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
