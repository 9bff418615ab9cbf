// Words that are cut where no token reaches across are spelt as the whole would be, by every model that cuts.
#include <gtest/gtest.h>

#include <random>

#include "engine/text/bpe.h"
#include "engine/text/sentencepiece_bpe.h"
#include "test_models.h"

namespace orrery::text {
namespace {

using Ids = std::vector<TokenId>;

// "\xE2\x96\x81" is the mark of a space; \xC3\xA9 has a token, \xC3\xA8 and z have none.
const std::vector<std::string> kTokens = {"<unk>",
                                          "a",
                                          "b",
                                          "c",
                                          "ab",
                                          "bc",
                                          "abc",
                                          "\xE2\x96\x81",
                                          "\xE2\x96\x81"
                                          "a",
                                          "\xC3\xA9",
                                          "b\xC3\xA9",
                                          "\xE2\x96\x81\xE2\x96\x81"};
const std::vector<std::pair<std::string, std::string>> kPieceMerges = {
    {"b", "c"},        {"a", "b"},
    {"ab", "c"},       {"\xE2\x96\x81", "a"},
    {"b", "\xC3\xA9"}, {"\xE2\x96\x81", "\xE2\x96\x81"}};

std::string random_text(std::mt19937& random) {
  static const std::string kCharacters[] = {"a",        "b", "c",    "\xE2\x96\x81", "\xC3\xA9",
                                            "\xC3\xA8", "z", "\xFF", "\xE2\x96"};
  std::string text;
  for (size_t length = 1 + random() % 40; length > 0; --length)
    text += kCharacters[random() % std::size(kCharacters)];
  return text;
}

Ids spell(const Model& model, std::string_view text) {
  static Scratch scratch;
  Ids ids;
  model.encode(text, scratch, ids);
  return ids;
}

void expect_same_spelling(const Model& model) {
  const PreTokenizerStepPtr cuts = model.cuts();
  ASSERT_NE(cuts, nullptr);
  std::mt19937 random(1);
  size_t words = 0, texts = 0;
  for (; texts < 3000; ++texts) {
    const std::string text = random_text(random);
    test::CollectedSegments segments;
    cuts->split({text, true}, segments);
    Ids ids;
    std::string joined;
    for (const auto& [word, first] : segments.list) {
      EXPECT_EQ(first, joined.empty());
      joined += word;
      const Ids part = spell(model, word);
      ids.insert(ids.end(), part.begin(), part.end());
    }
    ASSERT_EQ(joined, text);
    ASSERT_EQ(ids, spell(model, text)) << text;
    words += segments.list.size();
  }
  EXPECT_GT(words, 4 * texts);  // there was something to cut
}

std::shared_ptr<const Bpe> bpe(BpeOptions options) {
  auto made = Bpe::make(std::make_shared<const Vocabulary>(kTokens), kPieceMerges, std::move(options));
  EXPECT_TRUE(made.ok());
  return *made;
}

TEST(CharacterCuts, BpeThatLeavesOutWhatHasNoToken) { expect_same_spelling(*bpe({})); }

TEST(CharacterCuts, BpeWithAnUnknownToken) {
  for (const bool fuse : {false, true}) {
    BpeOptions options;
    options.unknown = 0;
    options.fuse_unknown = fuse;
    expect_same_spelling(*bpe(options));
  }
}

TEST(CharacterCuts, SentencePieceBpe) {
  std::vector<double> scores(kTokens.size());
  for (size_t i = 0; i < scores.size(); ++i) scores[i] = -static_cast<double>(i * 7 % 5);
  std::vector<PieceType> types(kTokens.size(), PieceType::normal);
  types[0] = PieceType::unknown;
  const auto pieces = std::make_shared<const PieceTable>(std::make_shared<const Vocabulary>(kTokens), scores,
                                                         types, 0, false);
  expect_same_spelling(SentencePieceBpe(pieces));
}

TEST(CharacterCuts, WordsStayWholeWhereACutWouldChangeThem) {
  BpeOptions bytes, whole, prefixed, suffixed;
  bytes.byte_level = true;
  whole.ignore_merges = true;
  prefixed.continuing_prefix = "##";
  suffixed.word_suffix = "</w>";
  const auto vocabulary = std::make_shared<const Vocabulary>(
      std::vector<std::string>{"a", "b", "<0xE2>", "<0x96>", "<0xE2><0x96>"});
  for (const BpeOptions& options : {bytes, whole, prefixed, suffixed})
    EXPECT_EQ((*Bpe::make(vocabulary, {}, options))->cuts(), nullptr);
  EXPECT_EQ((*Bpe::make(vocabulary, {{"<0xE2>", "<0x96>"}}, {}))->cuts(), nullptr);
  EXPECT_NE((*Bpe::make(vocabulary, {}, {}))->cuts(), nullptr);
}

}  // namespace
}  // namespace orrery::text
