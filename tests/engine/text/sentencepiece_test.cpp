// SentencePiece's BPE as GGUF files carry it.
#include <gtest/gtest.h>

#include <chrono>
#include <limits>

#include "test_models.h"

namespace orrery::text {
namespace {

using Ids = std::vector<TokenId>;
using Texts = std::vector<std::string>;

const std::string kMark = "\xE2\x96\x81";

/// A few pieces; bytes 'x', 0xC3 and 0xA9 have tokens, others not. Higher scores are joined first.
Metadata small() {
  const Texts tokens = {"<unk>",     "<s>", "</s>", "<0x78>", "<0xC3>", "<0xA9>", kMark, "a",   "b",
                        kMark + "a", "ab",  "bb",   "abbb",   "\n\n",   "c",      "cb",  "abbc"};
  Metadata metadata;
  metadata.set("tokenizer.ggml.model", std::string("llama"));
  metadata.set("tokenizer.ggml.tokens", tokens);
  metadata.set("tokenizer.ggml.scores",
               std::vector<double>{0, 0, 0, 0, 0, 0, -9, -9, -9, -3, -2, -1, -4, 0, -9, -1, -1});
  metadata.set("tokenizer.ggml.token_type",
               std::vector<int64_t>{2, 3, 3, 6, 6, 6, 1, 1, 1, 1, 1, 1, 1, 4, 1, 5, 1});
  metadata.set("tokenizer.ggml.bos_token_id", int64_t{1});
  metadata.set("tokenizer.ggml.eos_token_id", int64_t{2});
  metadata.set("tokenizer.ggml.unknown_token_id", int64_t{0});
  return metadata;
}

std::shared_ptr<const Tokenizer> make(const Metadata& metadata) {
  auto made = tokenizer_from_gguf(metadata);
  EXPECT_TRUE(made.ok()) << (made.ok() ? "" : made.error().to_string());
  return made.ok() ? *made : nullptr;
}

std::shared_ptr<const Tokenizer> without_prefix() {
  Metadata metadata = small();
  metadata.set("tokenizer.ggml.add_space_prefix", false);
  return make(metadata);
}

TEST(SentencePieceBpe, HighestScoreFirstThenLeftmost) {
  const auto tokenizer = without_prefix();
  EXPECT_EQ(tokenizer->encode("abb", false), (Ids{7, 11}));  // bb before ab
  EXPECT_EQ(tokenizer->encode("bbb", false), (Ids{11, 8}));  // the left one of two equal joins
  EXPECT_EQ(tokenizer->encode("aab", false), (Ids{7, 10}));
  EXPECT_EQ(tokenizer->encode("", false), Ids{});
}

TEST(SentencePieceBpe, SpacePrefixStandsBeforeEachRunOfText) {
  const auto tokenizer = make(small());
  EXPECT_EQ(tokenizer->encode("a a", true), (Ids{1, 9, 9}));
  EXPECT_EQ(tokenizer->encode("a</s>a", false), (Ids{9, 2, 9}));
  EXPECT_EQ(tokenizer->decode({1, 9, 9}, true), "a a");
  EXPECT_EQ(tokenizer->piece(9), " a");
  EXPECT_TRUE(tokenizer->drops_first_space());
  EXPECT_FALSE(without_prefix()->drops_first_space());
  EXPECT_EQ(without_prefix()->encode("a a", false), (Ids{7, 9}));
  EXPECT_EQ(without_prefix()->decode({9, 9}), " a a");
}

TEST(SentencePieceBpe, BytesStandForWhatIsNoPiece) {
  const auto tokenizer = without_prefix();
  EXPECT_EQ(tokenizer->encode("a\xC3\xA9x", false), (Ids{7, 4, 5, 3}));
  EXPECT_EQ(tokenizer->decode({7, 4, 5, 3}), "a\xC3\xA9x");
  EXPECT_EQ(tokenizer->decode({7, 4, 3}), "a\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(tokenizer->encode("zyaz", false), (Ids{0, 7, 0}));  // no byte tokens: one unknown for a run
  EXPECT_EQ(tokenizer->encode("a\xC3", false), (Ids{7, 4}));    // not UTF-8
  EXPECT_EQ(tokenizer->piece(4), "\xC3");
}

TEST(SentencePieceBpe, UnusedPiecesAreTakenApartAgain) {
  EXPECT_EQ(without_prefix()->encode("cb", false), (Ids{14, 8}));
}

TEST(SentencePieceBpe, ControlAndUserDefinedTokens) {
  const auto tokenizer = without_prefix();
  EXPECT_EQ(tokenizer->encode("a\n\nb", false, false), (Ids{7, 13, 8}));
  EXPECT_EQ(tokenizer->encode("<s>", false, true), Ids{1});
  EXPECT_EQ(tokenizer->encode("<s>", false, false), Ids{0});
  EXPECT_TRUE(tokenizer->is_special(1));
  EXPECT_FALSE(tokenizer->is_special(13));
  EXPECT_EQ(tokenizer->end_ids(), Ids{2});
}

TEST(SentencePieceBpe, PairsAreFramedAndCut) {
  Metadata metadata = small();
  metadata.set("tokenizer.ggml.add_space_prefix", false);
  metadata.set("tokenizer.ggml.add_eos_token", true);
  const auto tokenizer = make(metadata);
  const Encoding pair = tokenizer->encode_pair("a", "bcb");
  EXPECT_EQ(pair.ids, (Ids{1, 7, 2, 1, 8, 14, 8, 2}));
  EXPECT_EQ(pair.types, (std::vector<int32_t>{0, 0, 0, 0, 1, 1, 1, 1}));
  EXPECT_EQ(tokenizer->encode_pair("a", "bcb", 6).ids, (Ids{1, 7, 2, 1, 8, 2}));
  EXPECT_EQ(tokenizer->encode_pair("a", "bcb", 2).ids, (Ids{1, 2, 1, 2}));
}

TEST(SentencePieceBpe, RefusesDamage) {
  const auto inf = std::numeric_limits<double>::infinity();
  std::vector<double> scores(17, -1.0);
  const std::pair<std::string, Metadata::Value> changes[] = {
      {"scores", std::vector<double>{1.0}},
      {"scores", std::string("none")},
      {"scores", std::vector<int64_t>(17, 1)},
      {"token_type", std::vector<int64_t>{1, 1}},
      {"unknown_token_id", int64_t{17}},
      {"bos_token_id", int64_t{99}},
      {"scores", [&] { return scores[3] = std::numeric_limits<double>::quiet_NaN(), scores; }()},
      {"scores", [&] { return scores[3] = -inf, scores; }()},
      {"scores", [&] { return scores[3] = 1e300, scores; }()}};
  for (const auto& [key, value] : changes) {
    Metadata metadata = small();
    metadata.set("tokenizer.ggml." + key, value);
    EXPECT_FALSE(tokenizer_from_gguf(metadata).ok()) << key;
  }
}

TEST(SentencePieceBpe, OddByteTokensAreJustTokens) {
  Metadata metadata = small();
  metadata.set("tokenizer.ggml.tokens",
               Texts{"<unk>", "<s>", "</s>", "<0x-1>", "<0xZZ>", "<0x>", kMark, "a", "b", "<0x123>", "ab",
                     "bb", "\xFF\xFE", "\n\n", "", "", "<0x+1>"});
  const auto tokenizer = make(metadata);
  for (TokenId id = -1; id <= 17; ++id) tokenizer->piece(id);
  EXPECT_EQ(tokenizer->piece(3), "<0x-1>");
  EXPECT_EQ(tokenizer->piece(16), "<0x+1>");
  EXPECT_EQ(tokenizer->encode("a\x01", false), (Ids{6, 7, 0}));
}

TEST(SentencePieceBpe, LongTextsAreNotQuadratic) {
  const auto tokenizer = without_prefix();
  const auto start = std::chrono::steady_clock::now();
  std::string word;
  for (int i = 0; word.size() < 200'000; ++i) word += "aabbcb"[i * 7 % 6];
  EXPECT_EQ(tokenizer->decode(tokenizer->encode(word, false)), word);
  EXPECT_EQ(tokenizer->encode(std::string(200'000, 'b'), false), Ids(100'000, 11));
  EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), 2.0);
}

TEST(Golden, Gemma3TokenizesAsSentencePiece) {
  const auto path = test::models_folder() / "gemma3/gemma-3-270m-q4_k_m.gguf";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " was not fetched: ./bootstrap.sh test does";
  const auto tokenizer = make(test::gguf_metadata(path));
  const auto cases = nlohmann::json::parse(test::read_file(test::data_folder() / "tokenizers/gemma3.json"));
  ASSERT_GT(cases.size(), 70U);
  for (const auto& item : cases) {
    const auto text = item["text"].get<std::string>();
    const auto ids = item["ids"].get<Ids>();
    EXPECT_EQ(tokenizer->encode(text, false), ids) << text;
    EXPECT_EQ(tokenizer->decode(ids), item["decoded"].get<std::string>());
    std::string streamed;
    StreamingDecoder decoder;
    for (const TokenId id : ids) streamed += decoder.push(tokenizer->piece(id));
    EXPECT_EQ(streamed + decoder.finish(), item["decoded"].get<std::string>());
  }
}

}  // namespace
}  // namespace orrery::text
