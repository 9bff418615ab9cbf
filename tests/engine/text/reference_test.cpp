// Small trained tokenizers that between them use every part of tokenizer.json, against the tokenizers
// library; and sentencepiece's own models. tests/data/tokenizers/make_tokenizers.py makes them.
#include <gtest/gtest.h>

#include "engine/text/unicode.h"
#include "test_models.h"

namespace orrery::text {
namespace {

using nlohmann::json;
using Ids = std::vector<TokenId>;

json read(const std::string& name) {
  return json::parse(test::read_file(test::data_folder() / "tokenizers" / name));
}

class Reference : public testing::TestWithParam<const char*> {};

TEST_P(Reference, IdsAndTextsAreThoseOfTheLibrary) {
  json file = read(GetParam() + std::string(".json"));
  const json cases = file["cases"];
  file.erase("cases");
  const auto made = tokenizer_from_json(file.dump());
  ASSERT_TRUE(made.ok()) << made.error().to_string();
  const Tokenizer& tokenizer = **made;
  ASSERT_GT(cases.size(), 70U);
  for (const json& item : cases) {
    const auto text = item["text"].get<std::string>();
    const auto ids = item["ids"].get<Ids>();
    EXPECT_EQ(tokenizer.encode(text, true), ids) << text;
    EXPECT_EQ(replace_invalid(tokenizer.decode(ids)), item["decoded"].get<std::string>()) << text;
    EXPECT_EQ(replace_invalid(tokenizer.decode(ids, true)), item["without_special"].get<std::string>())
        << text;
    if (!item.contains("second")) continue;
    const Encoding pair = tokenizer.encode_pair(text, item["second"].get<std::string>());
    EXPECT_EQ(pair.ids, item["pair"].get<Ids>()) << text;
    EXPECT_EQ(pair.types, item["types"].get<std::vector<int32_t>>()) << text;
  }
}

INSTANTIATE_TEST_SUITE_P(Tokenizers, Reference,
                         testing::Values("gpt2", "roberta", "llama3", "byte_fallback", "end_of_word",
                                         "subword_prefix", "split_removed", "split_previous",
                                         "split_contiguous", "split_inverted", "bert", "bert_cased",
                                         "word_level", "unigram", "unigram_first", "unigram_bytes",
                                         "literal_bytes", "gemma4"),
                         [](const auto& info) { return std::string(info.param); });

/// What llama.cpp's converter makes of gemma4.json; the words' pattern and BOS are the model's, not the
/// file's.
Metadata gemma4_gguf() {
  const json keys = read("gemma4_gguf.json");
  Metadata metadata;
  metadata.set("tokenizer.ggml.model", std::string("gemma4"));
  metadata.set("tokenizer.ggml.pre", std::string("llama-bpe"));
  metadata.set("tokenizer.ggml.add_bos_token", false);
  for (const char* name : {"tokens", "merges"})
    metadata.set(std::string("tokenizer.ggml.") + name, keys[name].get<std::vector<std::string>>());
  metadata.set("tokenizer.ggml.token_type", keys["token_type"].get<std::vector<int64_t>>());
  for (const char* name : {"bos_token_id", "eos_token_id"})
    metadata.set(std::string("tokenizer.ggml.") + name, keys[name].get<int64_t>());
  return metadata;
}

TEST(Gemma4, TheGgufFileGivesTheLibrarysIdsAndTexts) {
  const auto made = tokenizer_from_gguf(gemma4_gguf());
  ASSERT_TRUE(made.ok()) << made.error().to_string();
  const Tokenizer& tokenizer = **made;
  EXPECT_EQ(tokenizer.end_ids(), (Ids{1, tokenizer.find("<turn|>")}));
  const json expected = read("gemma4.json");
  for (const json& item : expected["cases"]) {
    const auto text = item["text"].get<std::string>();
    const auto ids = item["ids"].get<Ids>();
    EXPECT_EQ(tokenizer.encode(text, true), ids) << text;
    EXPECT_EQ(replace_invalid(tokenizer.decode(ids)), item["decoded"].get<std::string>()) << text;
  }
}

TEST(Gemma4, LineEndsThatAreATokenNeedNoMerges) {
  Metadata metadata = gemma4_gguf();
  metadata.set("tokenizer.ggml.merges", std::vector<std::string>());
  const auto made = tokenizer_from_gguf(metadata);
  ASSERT_TRUE(made.ok()) << made.error().to_string();
  const TokenId one = (*made)->find("\n"), four = (*made)->find("\n\n\n\n"), a = (*made)->find("a");
  EXPECT_EQ((*made)->encode("\n\n\n\na\na", false), (Ids{four, a, one, a}));
}

class SentencePieceModel : public testing::TestWithParam<const char*> {};

TEST_P(SentencePieceModel, IdsAndTextsAreThoseOfSentencePiece) {
  const std::string name = GetParam();
  const auto made = tokenizer_from_sentencepiece(
      test::read_file(test::data_folder() / "tokenizers" / (name + ".model")), false, false);
  ASSERT_TRUE(made.ok()) << made.error().to_string();
  for (const json& item : read(name + ".json"))
    EXPECT_EQ((*made)->encode(item["text"].get<std::string>(), false), item["ids"].get<Ids>())
        << item["text"];
}

INSTANTIATE_TEST_SUITE_P(Models, SentencePieceModel, testing::Values("bpe_sp", "unigram_sp"),
                         [](const auto& info) { return std::string(info.param); });

TEST(SentencePieceModel, WhatStandsAroundATextIsAsked) {
  const std::string bytes = test::read_file(test::data_folder() / "tokenizers/bpe_sp.model");
  const auto made = tokenizer_from_sentencepiece(bytes, true, true);
  ASSERT_TRUE(made.ok());
  const Ids ids = (*made)->encode("the quick", true);
  EXPECT_EQ(ids.front(), (*made)->bos());
  EXPECT_EQ(ids.back(), (*made)->eos());
  EXPECT_EQ((*made)->decode(ids, true), "the quick");
}

TEST(SentencePieceModel, CutAndChangedFilesAreRefusedOrUsable) {
  const std::string whole = test::read_file(test::data_folder() / "tokenizers/unigram_sp.model");
  for (size_t cut = 0; cut < whole.size(); cut += 37)
    if (const auto made = tokenizer_from_sentencepiece(whole.substr(0, cut), false, false); made.ok())
      (*made)->encode("The quick brown \xEF\xBC\xA1", true);
  for (size_t i = 0; i < whole.size(); i += 13) {
    std::string bytes = whole;
    bytes[i] = static_cast<char>(bytes[i] ^ 0x55);
    if (const auto made = tokenizer_from_sentencepiece(bytes, false, false); made.ok())
      (*made)->encode("The quick brown \xEF\xBC\xA1", true);
  }
  EXPECT_FALSE(tokenizer_from_sentencepiece("", false, false).ok());
  EXPECT_FALSE(tokenizer_from_sentencepiece(test::random_bytes(3, 500), false, false).ok());
}

}  // namespace
}  // namespace orrery::text
