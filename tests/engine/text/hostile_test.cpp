// Tokenizer files that were damaged or made to harm: refused with a reason, or read without harm.
#include <gtest/gtest.h>

#include <random>

#include "test_models.h"

namespace orrery::text {
namespace {

using nlohmann::json;

json small_bpe() {
  return json::parse(R"({"added_tokens":[{"id":4,"content":"<s>","special":true}],
    "pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false},
    "model":{"type":"BPE","vocab":{"a":0,"b":1,"ab":2,"c":3},"merges":["a b"]}})");
}

void expect_refused(const json& file) {
  const auto made = tokenizer_from_json(file.dump());
  ASSERT_FALSE(made.ok()) << file.dump();
  EXPECT_FALSE(made.error().what.empty());
  EXPECT_FALSE(made.error().advice.empty());
}

TEST(HostileJson, TheSmallOneItselfIsFine) {
  const auto made = tokenizer_from_json(small_bpe().dump());
  ASSERT_TRUE(made.ok()) << made.error().to_string();
  EXPECT_EQ((*made)->encode("ab<s>c", false), (std::vector<TokenId>{2, 4, 3}));
}

TEST(HostileJson, MergesMayBePairs) {
  json file = small_bpe();
  file["model"]["merges"] = json::array({json::array({"a", "b"})});
  EXPECT_TRUE(tokenizer_from_json(file.dump()).ok());
}

TEST(HostileJson, BadVocabularies) {
  for (const char* vocabulary : {R"({"a":-1})", R"({"a":2147483648})", R"({"a":100000000})", R"({"a":"0"})",
                                 R"({"a":1.5})", R"({"a":null})", R"({"a":{}})", R"({"a":[0]})", R"([])",
                                 R"({})", R"("x")", R"({"a":18446744073709551615})"}) {
    json file = small_bpe();
    file["model"]["vocab"] = json::parse(vocabulary);
    file["model"]["merges"] = json::array();
    file["added_tokens"] = json::array();
    expect_refused(file);
  }
}

TEST(HostileJson, BadMerges) {
  for (const char* merges : {R"(["a zz"])", R"(["zz b"])", R"(["ab"])", R"([["a"]])", R"([["a","b","c"]])",
                             R"([[["a","b"]]])", R"([1])", R"([{"a":"b"}])", R"(["b c"])"}) {
    json file = small_bpe();
    file["model"]["merges"] = json::parse(merges);
    expect_refused(file);
  }
}

TEST(HostileJson, BadAddedTokens) {
  for (const char* added : {R"([{"id":-4,"content":"<s>"}])", R"([{"id":99999999,"content":"<s>"}])",
                            R"([{"content":"<s>"}])", R"([7])", R"("x")"}) {
    json file = small_bpe();
    file["added_tokens"] = json::parse(added);
    expect_refused(file);
  }
  json empty = small_bpe();
  empty["added_tokens"][0]["content"] = "";
  const auto made = tokenizer_from_json(empty.dump());
  ASSERT_TRUE(made.ok());
  EXPECT_EQ((*made)->encode("aa", false).size(), 2U);
}

TEST(HostileJson, UnsupportedAndDamagedPartsAreNamed) {
  const std::pair<const char*, const char*> changes[] = {
      {"/model/type", R"("Odd")"},
      {"/pre_tokenizer", R"({"type":"UnicodeScripts"})"},
      {"/pre_tokenizer", R"({"type":"CharDelimiterSplit","delimiter":"ab"})"},
      {"/pre_tokenizer", R"({"type":"FixedLength","length":0})"},
      {"/pre_tokenizer", R"({"type":"Metaspace","prepend_scheme":"odd"})"},
      {"/pre_tokenizer",
       R"({"type":"Sequence","pretokenizers":[{"type":"Split","pattern":{"Regex":"(("},"behavior":"Isolated"}]})"},
      {"/pre_tokenizer",
       R"({"type":"Sequence","pretokenizers":[{"type":"Split","pattern":{"Regex":"a"},"behavior":"Odd"}]})"},
      {"/pre_tokenizer", R"({"type":"Split","pattern":{},"behavior":"Removed"})"},
      {"/normalizer", R"({"type":"Replace"})"},
      {"/normalizer", R"({"type":"Odd"})"},
      {"/normalizer", R"("NFC")"},
      {"/normalizer", R"({"type":"Precompiled","precompiled_charsmap":"@@@@"})"},
      {"/normalizer", R"({"type":"Precompiled","precompiled_charsmap":"////////"})"},
      {"/normalizer", R"({"type":"Precompiled"})"},
      {"/decoder", R"({"type":"CTC"})"},
      {"/decoder", R"({"type":"Strip","content":"ab","start":1,"stop":0})"},
      {"/decoder", R"({"type":"Strip","content":"a","start":-1,"stop":0})"},
      {"/post_processor", R"({"type":"Odd"})"},
      {"/post_processor",
       R"({"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"X"}}],"special_tokens":{}})"},
      {"/post_processor", R"({"type":"BertProcessing","cls":["x",-1],"sep":["y",0]})"},
      {"/post_processor", R"({"type":"BertProcessing","cls":["x",70000],"sep":["y",0]})"}};
  for (const auto& [pointer, value] : changes) {
    json file = small_bpe();
    file[json::json_pointer(pointer)] = json::parse(value);
    expect_refused(file);
  }
}

json small_unigram() {
  return json::parse(R"({"model":{"type":"Unigram","unk_id":0,
    "vocab":[["<unk>",0],["a",-1.5],["b",-2],["ab",-2.5]]}})");
}

TEST(HostileJson, BadUnigrams) {
  const auto made = tokenizer_from_json(small_unigram().dump());
  ASSERT_TRUE(made.ok()) << made.error().to_string();
  EXPECT_EQ((*made)->encode("abxyb", false), (std::vector<TokenId>{3, 0, 2}));
  for (const char* vocabulary : {R"([["a"]])", R"([["a",1,2]])", R"([["a","b"]])", R"([[1,"a"]])",
                                 R"([["a",null]])", R"(["a",1])", R"([[["a",1]]])", R"([{"a":1}])", "[]"}) {
    json file = small_unigram();
    file["model"]["vocab"] = json::parse(vocabulary);
    expect_refused(file);
  }
  for (const char* unknown : {"-1", "4", "\"0\"", "1e300"}) {
    json file = small_unigram();
    file["model"]["unk_id"] = json::parse(unknown);
    expect_refused(file);
  }
}

TEST(HostileJson, CharacterMapsOfAnyBytesAreWalkedWithoutHarm) {
  static constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (uint64_t seed = 0; seed < 200; ++seed) {
    // A trie of 24 units whose bytes are random, then replacements.
    std::string map = "YAAAAA" + test::random_bytes(seed, 200);
    for (size_t i = 6; i < map.size(); ++i) map[i] = kDigits[static_cast<uint8_t>(map[i]) % 64];
    json file = small_unigram();
    file["normalizer"] = {{"type", "Precompiled"}, {"precompiled_charsmap", map}};
    const auto made = tokenizer_from_json(file.dump());
    ASSERT_TRUE(made.ok()) << made.error().to_string();
    (*made)->encode(test::random_text(seed, 100), true);
  }
}

TEST(HostileJson, DeepNestingAndRubbish) {
  for (const std::string& text :
       {std::string(100'000, '['), std::string(100'000, '{'),
        std::string("{\"a\":") + std::string(100'000, '['), std::string(), std::string("null"),
        std::string("[]"), std::string("{}"), std::string("{\"model\":"),
        std::string("{\"model\":{\"vocab\":{\"a\":0},\"merges\":[[\"a\""), test::random_bytes(1, 5000)})
    EXPECT_FALSE(tokenizer_from_json(text).ok());
}

TEST(HostileJson, ChangedBytesOfARealFile) {
  // One flipped byte or a cut at a random place: either refused or usable.
  const std::string& whole = test::minilm_tokenizer_json();
  std::mt19937_64 random(7);
  for (int round = 0; round < 24; ++round) {
    std::string text = whole.substr(0, round % 3 == 0 ? random() % whole.size() : whole.size());
    const size_t flips = round % 3 == 0 ? 0 : 3;
    for (size_t i = 0; i < flips; ++i)
      text[random() % (round % 2 ? std::min<size_t>(3000, text.size()) : text.size())] ^=
          static_cast<char>(1 << random() % 8);
    const auto made = tokenizer_from_json(text);
    if (made.ok()) {
      EXPECT_FALSE((*made)->encode("Hello, world", true).empty());
    } else {
      EXPECT_FALSE(made.error().what.empty());
    }
  }
}

Metadata small_gguf() {
  Metadata metadata;
  metadata.set("tokenizer.ggml.model", std::string("gpt2"));
  metadata.set("tokenizer.ggml.pre", std::string("smollm"));
  metadata.set("tokenizer.ggml.tokens", std::vector<std::string>{"a", "b", "ab", "<e>"});
  metadata.set("tokenizer.ggml.token_type", std::vector<int64_t>{1, 1, 1, 3});
  metadata.set("tokenizer.ggml.merges", std::vector<std::string>{"a b"});
  metadata.set("tokenizer.ggml.eos_token_id", int64_t{3});
  return metadata;
}

TEST(HostileGguf, TheSmallOneItselfIsFine) {
  const auto made = tokenizer_from_gguf(small_gguf());
  ASSERT_TRUE(made.ok()) << made.error().to_string();
  EXPECT_EQ((*made)->encode("aab<e>", false), (std::vector<TokenId>{0, 2, 3}));
}

TEST(HostileGguf, Refused) {
  using Texts = std::vector<std::string>;
  using Integers = std::vector<int64_t>;
  const std::pair<std::string, Metadata::Value> changes[] = {
      {"model", std::string("odd")},     {"model", int64_t{3}},
      {"pre", std::string("odd")},       {"tokens", Texts{}},
      {"tokens", int64_t{1} << 40},      {"tokens", Texts{"a", "b"}},
      {"tokens", Texts{"", "", "", ""}}, {"token_type", Integers{1}},
      {"merges", Texts{"a zz"}},         {"merges", Texts{""}},
      {"merges", Texts{"ab"}},           {"merges", Texts{"a "}},
      {"merges", std::string("a b")},    {"eos_token_id", int64_t{4}},
      {"eos_token_id", int64_t{-2}},     {"bos_token_id", int64_t{1} << 33},
      {"eot_token_id", int64_t{49152}}};
  for (const auto& [key, value] : changes) {
    Metadata metadata = small_gguf();
    metadata.set("tokenizer.ggml." + key, value);
    const auto made = tokenizer_from_gguf(metadata);
    EXPECT_FALSE(made.ok()) << key;
    if (!made.ok()) {
      EXPECT_FALSE(made.error().to_string().empty());
    }
  }
  EXPECT_FALSE(tokenizer_from_gguf(Metadata()).ok());
}

TEST(HostileGguf, ReadWithoutHarm) {
  using Texts = std::vector<std::string>;
  Metadata metadata = small_gguf();
  metadata.set("tokenizer.ggml.tokens",
               Texts{"a", "a", "b", "", "ab", "<0x-1>", "<0xZZ>", "\xFF\xFE", "<e>"});
  metadata.set("tokenizer.ggml.token_type", std::vector<int64_t>{1, 1, 1, 3, 1, 6, 6, 1, -9});
  metadata.set("tokenizer.ggml.bos_token_id", int64_t{0xFFFFFFFF});  // "none"
  const auto made = tokenizer_from_gguf(metadata);
  ASSERT_TRUE(made.ok()) << made.error().to_string();
  EXPECT_EQ((*made)->encode("ab", true), (std::vector<TokenId>{4}));
  EXPECT_EQ((*made)->encode("a", false), (std::vector<TokenId>{1}));  // of equal tokens the last
  EXPECT_EQ((*made)->piece(7), "\xFF\xFE");
  EXPECT_EQ((*made)->bos(), -1);
}

}  // namespace
}  // namespace orrery::text
