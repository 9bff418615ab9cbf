#include "engine/text/pre_tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/text/gguf_pre_tokenizers.h"
#include "engine/text/word_scanner.h"
#include "test_models.h"

namespace orrery::text {
namespace {

using ::testing::ElementsAre;
using Words = std::vector<std::string>;

Words split(const PreTokenizer& pre_tokenizer, std::string_view text) {
  test::CollectedSegments words;
  pre_tokenizer.split({text, true}, words);
  Words texts;
  for (const auto& [word, first] : words.list) texts.push_back(word);
  return texts;
}

Words split(PreTokenizerStepPtr step, std::string_view text) {
  PreTokenizer pre_tokenizer;
  pre_tokenizer.add(std::move(step));
  return split(pre_tokenizer, text);
}

Words named(std::string_view name, std::string_view text) {
  auto made = gguf_pre_tokenizer(name);
  EXPECT_TRUE(made.ok()) << (made.ok() ? "" : made.error().to_string());
  return made.ok() ? split(made->steps, text) : Words{};
}

TEST(PreTokenizer, Gpt2) {
  EXPECT_THAT(named("gpt-2", "Hello world's 123  x\n\n"),
              ElementsAre("Hello", " world", "'s", " 123", " ", " x", "\n\n"));
}

TEST(PreTokenizer, SmollmTakesEachDigitByItself) {
  EXPECT_THAT(named("smollm", "a 12 x\xC2\xB2"), ElementsAre("a", " ", "1", "2", " x", "\xC2\xB2"));
}

TEST(PreTokenizer, Llama3AndQwen2) {
  EXPECT_THAT(named("llama-bpe", "I'LL pay 12345!\n"),
              ElementsAre("I", "'LL", " pay", " ", "123", "45", "!\n"));
  EXPECT_THAT(named("qwen2", "v12 (ok)"), ElementsAre("v", "1", "2", " (", "ok", ")"));
}

TEST(PreTokenizer, Gpt4o) {
  EXPECT_THAT(named("gpt-4o", "HelloWorld's fine"), ElementsAre("Hello", "World's", " fine"));
}

TEST(PreTokenizer, FamiliesOfTheirOwn) {
  EXPECT_THAT(named("deepseek-v3", "x=12345 \xE4\xB8\xAD\xE6\x96\x87!"),
              ElementsAre("x", "=", "123", "45", " ", "\xE4\xB8\xAD\xE6\x96\x87", "!"));
  EXPECT_THAT(named("kimi-k2", "ab\xE4\xB8\xAD\xE6\x96\x87 cd"),
              ElementsAre("ab", "\xE4\xB8\xAD\xE6\x96\x87", " cd"));
  EXPECT_THAT(named("superbpe", "1234567"), ElementsAre("1", "234", "567"));
  EXPECT_THAT(named("bloom", "one, two"), ElementsAre("one", ",", " two"));
  EXPECT_THAT(named("falcon", "a+b 1234"), ElementsAre("a", "+", "b", " ", "123", "4"));
  EXPECT_THAT(named("qwen35",
                    "a\xCC\x81"
                    "b 1"),
              ElementsAre("a\xCC\x81"
                          "b",
                          " ", "1"));
}

TEST(PreTokenizer, UnknownNameIsRefusedWithTheKnownOnes) {
  const auto made = gguf_pre_tokenizer("no-such");
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().code, ErrorCode::unsupported);
  EXPECT_THAT(made.error().advice, ::testing::HasSubstr("smollm"));
}

TEST(PreTokenizer, WordsOfEveryNameAreTheTextWhateverTheBytes) {
  for (const std::string_view name : gguf_pre_tokenizer_names()) {
    for (uint64_t seed = 0; seed < 10; ++seed) {
      const std::string text = seed % 2 ? test::random_bytes(seed, 200) : test::random_text(seed, 150);
      std::string joined;
      for (const std::string& word : named(name, text)) joined += word;
      EXPECT_EQ(joined, text) << name << " " << seed;
    }
  }
}

TEST(PreTokenizer, NamesSayMoreThanWords) {
  EXPECT_TRUE(gguf_pre_tokenizer("llama-bpe")->ignore_merges);
  EXPECT_TRUE(gguf_pre_tokenizer("tekken")->add_bos);
  EXPECT_FALSE(gguf_pre_tokenizer("dbrx")->ignore_merges);
  EXPECT_FALSE(gguf_pre_tokenizer("gemma4")->byte_level);
}

/// Texts of every script, of much ASCII, and of what patterns stumble over.
std::string scanner_text(uint64_t seed) {
  if (seed % 4 == 0) return test::random_bytes(seed, 120);
  if (seed % 4 == 1) return test::random_text(seed, 80);
  static constexpr std::string_view kParts[] = {"'s",       "'LL",      "'\xC5\xBF", " ",
                                                "  ",       "\n",       "\r\n",      "\t",
                                                "aB",       "Ab",       "AB",        "z",
                                                "1",        "23",       "\xC2\xB2",  "!",
                                                "/",        "\xC7\x85", "\xCA\xB0",  "\xE4\xB8\xAD",
                                                "\xCC\x81", "\xC3\x89", "\xC2\xA0",  "\xE1\xA0\x8E",
                                                "'",        "_",        "\x80",      "\xF0\x9F\x98\x80"};
  std::string text;
  uint64_t state = seed * 0x9E3779B97F4A7C15U + 1;
  for (int i = 0; i < 40; ++i) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    text += kParts[(state >> 33) % std::size(kParts)];
  }
  return text;
}

TEST(WordScanner, EqualsItsPattern) {
  const std::string contraction = "(?i:'s|'t|'re|'ve|'m|'ll|'d)", word = "[^\\r\\n\\p{L}\\p{N}]?\\p{L}+",
                    tail = " ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
                    cased_tail = " ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
                    upper = "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]", lower = "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]",
                    lead = "[^\\r\\n\\p{L}\\p{N}]?";
  const std::pair<std::string, WordScanner> patterns[] = {
      {"'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+", scan_gpt2},
      {"\\p{N}", scan_digits_apart},
      {contraction + "|" + word + "|\\p{N}{1,3}|" + tail, scan_llama3},
      {contraction + "|" + word + "|\\p{N}|" + tail, scan_qwen2},
      {lead + upper + "*" + lower + "+" + contraction + "?|" + lead + upper + "+" + lower + "*" +
           contraction + "?|\\p{N}{1,3}|" + cased_tail,
       scan_o200k},
      {lead + upper + "*" + lower + "+|" + lead + upper + "+" + lower + "*|\\p{N}|" + cased_tail,
       scan_tekken}};
  // What Unicode has assigned since PCRE2's tables were made is left out: the scanners know more of it.
  const auto unassigned = Regex::compile("\\p{Cn}");
  ASSERT_TRUE(unassigned.ok());
  for (const auto& [pattern, scanner] : patterns) {
    EXPECT_EQ(scanner_of(pattern), scanner) << pattern;
    auto regex = Regex::compile_oniguruma(pattern);
    ASSERT_TRUE(regex.ok());
    for (uint64_t seed = 0; seed < 2000; ++seed) {
      const std::string text = unassigned->replace_all(scanner_text(seed), "");
      ASSERT_EQ(split(scanner_step(scanner), text),
                split(split_step(*regex, SplitBehavior::isolated, false), text))
          << pattern << " seed " << seed;
    }
  }
}

TEST(SplitStep, Behaviors) {
  const auto cut = [](SplitBehavior behavior, bool invert = false) {
    return split(split_step(*Regex::compile("-"), behavior, invert), "a-b--c");
  };
  EXPECT_THAT(cut(SplitBehavior::removed), ElementsAre("a", "b", "c"));
  EXPECT_THAT(cut(SplitBehavior::isolated), ElementsAre("a", "-", "b", "-", "-", "c"));
  EXPECT_THAT(cut(SplitBehavior::merged_with_previous), ElementsAre("a-", "b-", "-", "c"));
  EXPECT_THAT(cut(SplitBehavior::merged_with_next), ElementsAre("a", "-b", "-", "-c"));
  EXPECT_THAT(cut(SplitBehavior::contiguous), ElementsAre("a", "-", "b", "--", "c"));
  EXPECT_THAT(cut(SplitBehavior::removed, true), ElementsAre("-", "-", "-"));
}

TEST(MetaspaceStep, PrependsByItsScheme) {
  EXPECT_THAT(split(metaspace_step("_", PrependScheme::always, true), "a b  c"),
              ElementsAre("_a", "_b", "_", "_c"));
  EXPECT_THAT(split(metaspace_step("_", PrependScheme::never, true), "a b"), ElementsAre("a", "_b"));
  EXPECT_THAT(split(metaspace_step("_", PrependScheme::first, false), " a b"), ElementsAre("_a_b"));
}

TEST(Regex, BadPatternIsRefused) {
  const auto made = Regex::compile("(a");
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().code, ErrorCode::unsupported);
}

TEST(Regex, CatastrophicPatternEnds) {
  auto made = Regex::compile("(a+)+$");
  ASSERT_TRUE(made.ok());
  EXPECT_TRUE(made->find_all(std::string(60, 'a') + "b").empty());
}

TEST(Regex, OnigurumasClassesAreKept) {
  const auto matches = [](std::string_view pattern, std::string_view text) {
    auto regex = Regex::compile_oniguruma(pattern);
    EXPECT_TRUE(regex.ok()) << pattern;
    return regex.ok() ? regex->replace_all(text, "#") : "";
  };
  EXPECT_EQ(matches("\\s", "a\xE1\xA0\x8E b"), "a\xE1\xA0\x8E#b");  // U+180E is no white space
  EXPECT_EQ(matches("[^\\s\\p{L}]+", "a!! \xC2\xA0?"), "a# \xC2\xA0#");
  EXPECT_EQ(matches("\\w+", "a\xCC\x81_1-"), "#-");                              // marks belong to words
  EXPECT_EQ(matches("\\p{Han}+", "\xE4\xB8\xAD\xE3\x80\x81"), "#\xE3\x80\x81");  // U+3001 is of no script
  EXPECT_EQ(matches("[]\\]]", "a]"), "a#");
}

}  // namespace
}  // namespace orrery::text
