// Both default tokenizers against the reference implementation: exact.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>

#include "test_models.h"

namespace orrery::text {
namespace {

using Ids = std::vector<TokenId>;

TEST(Golden, SmolLM2TokenizesAsTheReference) {
  const auto tokenizer = test::smollm2();
  const auto cases = test::golden("smollm2.json", "tokenize");
  ASSERT_EQ(cases.size(), 24U);
  for (const auto& item : cases) {
    const auto text = item["text"].get<std::string>();
    const auto ids = item["ids"].get<Ids>();
    EXPECT_EQ(tokenizer->encode(text, false), ids) << text;
    EXPECT_EQ(tokenizer->decode(ids), item["decoded"].get<std::string>());
    std::string joined;
    for (const TokenId id : ids) joined += tokenizer->piece(id);
    EXPECT_EQ(joined, text);
  }
}

TEST(Golden, SmolLM2ChatIds) {
  for (const auto& item : test::golden("smollm2.json", "chat"))
    EXPECT_EQ(test::smollm2()->encode(item["rendered"].get<std::string>(), false), item["ids"].get<Ids>());
}

TEST(Golden, SmolLM2SpecialTokens) {
  const auto tokenizer = test::smollm2();
  EXPECT_EQ(tokenizer->kind(), "byte-level BPE");
  EXPECT_EQ(tokenizer->vocabulary(), 49152);
  EXPECT_EQ(tokenizer->bos(), 1);
  EXPECT_EQ(tokenizer->eos(), 2);
  EXPECT_EQ(tokenizer->end_ids(), (Ids{2, 0}));
  EXPECT_EQ(tokenizer->find("<|im_start|>"), 1);
  EXPECT_EQ(tokenizer->find("no such token"), -1);
  EXPECT_TRUE(tokenizer->is_special(2));
  EXPECT_FALSE(tokenizer->is_special(100));
  EXPECT_EQ(tokenizer->encode("", true), Ids{});  // the model adds nothing around a text
  EXPECT_EQ(tokenizer->encode("<|im_end|>", false, true), Ids{2});
  EXPECT_GT(tokenizer->encode("<|im_end|>", false, false).size(), 1U);
  EXPECT_EQ(tokenizer->decode({1, 19556, 2}, true), "Hello");
  EXPECT_EQ(tokenizer->piece(-1), "");
  EXPECT_EQ(tokenizer->piece(49152), "");
  EXPECT_EQ(tokenizer->decode({-5, 1000000}), "");
}

TEST(Golden, MiniLMTokenizesAsTheReference) {
  const auto tokenizer = test::minilm();
  const auto cases = test::golden("minilm.json", "tokenize");
  ASSERT_EQ(cases.size(), 24U);
  for (const auto& item : cases) {
    const auto text = item["text"].get<std::string>();
    EXPECT_EQ(tokenizer->encode(text, true), item["ids"].get<Ids>()) << text;
  }
  EXPECT_EQ(tokenizer->kind(), "WordPiece");
  EXPECT_EQ(tokenizer->truncate_to(), 128);
  std::string long_text;
  for (int i = 0; i < 300; ++i) long_text += "word ";
  EXPECT_EQ(tokenizer->encode(long_text, true).size(), 302U);  // encoding itself does not truncate
}

TEST(Golden, MiniLMDecodesAsTheReference) {
  const auto tokenizer = test::minilm();
  const Ids ids = tokenizer->encode("Hello, world! Don't stop... e.g. [SEP] it's unbelievable", true);
  EXPECT_EQ(tokenizer->decode(ids, true), "hello, world! don ' t stop... e. g. it ' s unbelievable");
  EXPECT_EQ(tokenizer->decode(ids),
            "[CLS] hello, world! don ' t stop... e. g. [SEP] it ' s unbelievable [SEP]");
}

TEST(RoundTrip, EveryTextThatTheVocabularyCovers) {
  const auto tokenizer = test::smollm2();
  for (uint64_t seed = 0; seed < 300; ++seed) {
    std::string text = test::random_text(seed, 100);
    const std::string decoded = tokenizer->decode(tokenizer->encode(text, false));
    // Six control characters and the unassigned planes 4 to 11 have no token; the reference leaves them out
    // too.
    std::string covered;
    for (size_t i = 0; i < text.size();) {
      const auto lead = static_cast<uint8_t>(text[i]);
      const size_t bytes = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
      if (std::string_view("\x04\x06\x13\x14\x16\x1d").find(text[i]) == std::string_view::npos)
        covered += text.substr(i + (lead == 0xF1 || lead == 0xF2), bytes - (lead == 0xF1 || lead == 0xF2));
      i += bytes;
    }
    EXPECT_EQ(decoded, covered) << seed;
  }
}

TEST(RoundTrip, BytesThatAreNoTextAreKept) {
  const auto tokenizer = test::smollm2();
  EXPECT_EQ(tokenizer->decode(tokenizer->encode("a\x80\xE2\x82 b\xF0\x9F", false)),
            "a\x80\xE2\x82 b\xF0\x9F");
  // No token for 0xFF: it is told apart as U+FFFD rather than lost.
  EXPECT_EQ(tokenizer->decode(tokenizer->encode("a\xFF"
                                                "b",
                                                false)),
            "a\xEF\xBF\xBD"
            "b");
  EXPECT_EQ(tokenizer->decode(tokenizer->encode(std::string("a\0b", 3), false)), std::string("a\0b", 3));
}

TEST(RoundTrip, RandomBytesDoNotFail) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const std::string bytes = test::random_bytes(seed, 400);
    const Ids ids = test::smollm2()->encode(bytes, true);
    EXPECT_GT(ids.size(), 100U);
    for (const TokenId id : ids) EXPECT_TRUE(id >= 0 && id < 49152);
    const Ids pieces = test::minilm()->encode(bytes, true);
    EXPECT_EQ(pieces.front(), 101);
    EXPECT_EQ(pieces.back(), 102);
  }
}

double seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

TEST(Speed, LongWordIsNotQuadratic) {
  const auto tokenizer = test::smollm2();
  test::minilm();
  std::string word;
  for (int i = 0; word.size() < 100'000; ++i) word += static_cast<char>('a' + i * 7 % 26);
  double best = 1e9;  // of three: the machine may be busy
  for (int i = 0; i < 3; ++i)
    best =
        std::min(best, seconds([&] { EXPECT_EQ(tokenizer->decode(tokenizer->encode(word, false)), word); }));
  EXPECT_LT(best, 0.1);
  const std::string same(100'000, 'a'), spaces(100'000, ' ');
  EXPECT_LT(seconds([&] { EXPECT_EQ(tokenizer->decode(tokenizer->encode(same, false)), same); }), 1.0);
  EXPECT_LT(seconds([&] { EXPECT_EQ(tokenizer->decode(tokenizer->encode(spaces, false)), spaces); }), 1.0);
  EXPECT_LT(seconds([&] { EXPECT_EQ(test::minilm()->encode(word, true), (Ids{101, 100, 102})); }), 1.0);
}

}  // namespace
}  // namespace orrery::text
