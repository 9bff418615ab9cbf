#include "engine/text/pre_tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test_models.h"

namespace orrery::text {
namespace {

using ::testing::ElementsAre;

PreTokenizer named(std::string_view name) {
  auto made = pre_tokenizer_named(name);
  EXPECT_TRUE(made.ok());
  return std::move(made).value();
}

TEST(PreTokenizer, Gpt2) {
  EXPECT_THAT(named("gpt-2").split("Hello world's 123  x\n\n"),
              ElementsAre("Hello", " world", "'s", " 123", " ", " x", "\n\n"));
}

TEST(PreTokenizer, SmollmTakesEachDigitByItself) {
  EXPECT_THAT(named("smollm").split("a 12 x\xC2\xB2"), ElementsAre("a", " ", "1", "2", " x", "\xC2\xB2"));
}

TEST(PreTokenizer, Llama3AndQwen2) {
  EXPECT_THAT(named("llama-bpe").split("I'LL pay 12345!\n"),
              ElementsAre("I", "'LL", " pay", " ", "123", "45", "!\n"));
  EXPECT_THAT(named("qwen2").split("v12 (ok)"), ElementsAre("v", "1", "2", " (", "ok", ")"));
}

TEST(PreTokenizer, Gpt4o) {
  EXPECT_THAT(named("gpt-4o").split("HelloWorld's fine"), ElementsAre("Hello", "World's", " fine"));
}

TEST(PreTokenizer, UnknownNameIsRefusedWithTheKnownOnes) {
  const auto made = pre_tokenizer_named("no-such");
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().code, ErrorCode::unsupported);
  EXPECT_THAT(made.error().advice, ::testing::HasSubstr("smollm"));
}

TEST(PreTokenizer, SegmentsAreTheTextWhateverTheBytes) {
  for (const char* name : {"gpt-2", "smollm", "llama-bpe", "qwen2", "gpt-4o", "tekken"}) {
    const PreTokenizer splitter = named(name);
    for (uint64_t seed = 0; seed < 50; ++seed) {
      const std::string text = seed % 2 ? test::random_bytes(seed, 300) : test::random_text(seed, 200);
      std::string joined;
      for (const std::string_view segment : splitter.split(text)) joined += segment;
      EXPECT_EQ(joined, text) << name << " " << seed;
    }
  }
}

TEST(RegexSplitter, Behaviors) {
  const auto split = [](SplitBehavior behavior, bool invert = false) {
    auto made = RegexSplitter::compile("-", behavior, invert);
    EXPECT_TRUE(made.ok());
    std::vector<std::string_view> segments;
    made->split("a-b--c", segments);
    return segments;
  };
  EXPECT_THAT(split(SplitBehavior::removed), ElementsAre("a", "b", "c"));
  EXPECT_THAT(split(SplitBehavior::isolated), ElementsAre("a", "-", "b", "-", "-", "c"));
  EXPECT_THAT(split(SplitBehavior::merged_with_previous), ElementsAre("a-", "b-", "-", "c"));
  EXPECT_THAT(split(SplitBehavior::merged_with_next), ElementsAre("a", "-b", "-", "-c"));
  EXPECT_THAT(split(SplitBehavior::contiguous), ElementsAre("a", "-", "b", "--", "c"));
  EXPECT_THAT(split(SplitBehavior::removed, true), ElementsAre("-", "-", "-"));
}

TEST(RegexSplitter, BadPatternIsRefused) {
  const auto made = RegexSplitter::compile("(a", SplitBehavior::isolated);
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().code, ErrorCode::unsupported);
}

TEST(RegexSplitter, CatastrophicPatternEnds) {
  auto made = RegexSplitter::compile("(a+)+$", SplitBehavior::isolated);
  ASSERT_TRUE(made.ok());
  const std::string text = std::string(60, 'a') + "b";
  std::vector<std::string_view> segments;
  made->split(text, segments);
  EXPECT_THAT(segments, ElementsAre(text));
}

}  // namespace
}  // namespace orrery::text
