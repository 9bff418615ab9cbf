#include "engine/text/bpe.h"

#include <gtest/gtest.h>

#include "engine/text/added_tokens.h"
#include "test_models.h"

namespace orrery::text {
namespace {

using Ids = std::vector<TokenId>;

// a b c ab bc abc: rank order decides between (ab)c and a(bc).
using Merges = std::vector<std::pair<std::string, std::string>>;

std::shared_ptr<const Vocabulary> letters() {
  return std::make_shared<const Vocabulary>(std::vector<std::string>{"a", "b", "c", "ab", "bc", "abc", "<x>",
                                                                     "\xC4\xA0",
                                                                     "\xC4\xA0"
                                                                     "a",
                                                                     "<0x7A>", "##b", "b</w>", "a##b"});
}
const Merges kMerges = {{"b", "c"}, {"a", "b"}, {"ab", "c"}, {"\xC4\xA0", "a"}};

Ids spell(const BpeOptions& options, std::string_view word, const Merges& merges = kMerges) {
  auto made = Bpe::make(letters(), merges, options);
  EXPECT_TRUE(made.ok()) << (made.ok() ? "" : made.error().to_string());
  Ids ids;
  Scratch scratch;
  if (made.ok()) (*made)->encode(word, scratch, ids);
  return ids;
}
BpeOptions bytes() {
  BpeOptions options;
  options.byte_level = true;
  return options;
}

TEST(Bpe, LowestRankFirst) {
  EXPECT_EQ(spell(bytes(), "abc"), (Ids{0, 4}));
  EXPECT_EQ(spell(bytes(), "abab"), (Ids{3, 3}));
  EXPECT_EQ(spell(bytes(), "abbc"), (Ids{3, 4}));
  EXPECT_EQ(spell(bytes(), " a"), Ids{8});
}

TEST(Bpe, LongWordsAreMergedAsShortOnes) {
  std::string word;
  for (int i = 0; i < 40; ++i) word += "abcab"[i * 3 % 5];
  Ids twice = spell(bytes(), word);  // merges do not reach across the middle: it ends "b", begins "a" or "c"
  const Ids once = twice;
  twice.insert(twice.end(), once.begin(), once.end());
  EXPECT_EQ(spell(bytes(), word + word), twice);
}

TEST(Bpe, WholeWordsGoBeforeMerges) {
  BpeOptions options = bytes();
  options.ignore_merges = true;
  EXPECT_EQ(spell(options, "abc"), Ids{5});
}

TEST(Bpe, UnknownSymbols) {
  EXPECT_EQ(spell(bytes(), "aza"), (Ids{0, 0}));
  BpeOptions options;
  EXPECT_EQ(spell(options, "aza"), (Ids{0, 0}));
  options.unknown = 6;
  EXPECT_EQ(spell(options, "ayyz"), (Ids{0, 6, 6, 6}));
  options.fuse_unknown = true;
  EXPECT_EQ(spell(options, "ayyz"), (Ids{0, 6}));
  options.byte_fallback = true;
  EXPECT_EQ(spell(options, "az\xC3\xA9"), (Ids{0, 9, 6}));  // only z has a byte token
}

TEST(Bpe, PrefixesAndSuffixesOfSymbols) {
  BpeOptions prefix;
  prefix.continuing_prefix = "##";
  EXPECT_EQ(spell(prefix, "ab", {{"a", "##b"}}), Ids{3});
  BpeOptions suffix;
  suffix.word_suffix = "</w>";
  EXPECT_EQ(spell(suffix, "bb", {}), (Ids{1, 11}));
}

TEST(Bpe, RefusesDamage) {
  const auto refused = [](const Merges& merges, const BpeOptions& options) {
    const auto made = Bpe::make(letters(), merges, options);
    return !made.ok() && made.error().code == ErrorCode::corrupt_file;
  };
  EXPECT_TRUE(refused({{"a", "zzz"}}, bytes()));
  EXPECT_TRUE(refused({{"c", "c"}}, bytes()));
  const auto none = std::make_shared<const Vocabulary>(std::vector<std::string>{"xyz"});
  EXPECT_FALSE(Bpe::make(none, {}, bytes()).ok());
}

TEST(MergeTable, FindsAllAndOnlyWhatWasPutIn) {
  MergeTable table(1000);
  for (TokenId i = 0; i < 1000; ++i) table.insert(i, 1000 - i, {i, i + 1});
  for (TokenId i = 0; i < 1000; ++i) {
    EXPECT_EQ(table.find(i, 1000 - i).rank, i);
    EXPECT_EQ(table.find(i, 1000 - i).result, i + 1);
    EXPECT_EQ(table.find(i, 2000 + i).rank, -1);
  }
  table.insert(3, 997, {9, 9});
  EXPECT_EQ(table.find(3, 997).rank, 3);
}

AddedToken token(std::string content, TokenId id, bool special = true) {
  AddedToken made;
  made.content = std::move(content);
  made.id = id;
  made.special = special;
  return made;
}

std::vector<std::pair<std::string, TokenId>> pieces(const AddedTokens& tokens, std::string_view text,
                                                    bool special = true) {
  std::vector<std::pair<std::string, TokenId>> list;
  tokens.split(text, special,
               [&](const AddedTokens::Piece& piece) { list.emplace_back(piece.text, piece.id); });
  return list;
}
using Pieces = std::vector<std::pair<std::string, TokenId>>;

TEST(AddedTokens, LeftmostThenLongest) {
  const AddedTokens tokens({token("<a>", 1), token("<a>b", 2), token("", 3)});
  EXPECT_EQ(pieces(tokens, "x<a>b<a>"), (Pieces{{"x", -1}, {"<a>b", 2}, {"<a>", 1}}));
  EXPECT_EQ(pieces(tokens, "<<a"), (Pieces{{"<<a", -1}}));
  EXPECT_EQ(pieces(tokens, ""), Pieces{});
}

TEST(AddedTokens, UserDefinedOnesAreFoundWithoutParsingSpecial) {
  const AddedTokens tokens({token("<s>", 1), token("<u>", 2, false)});
  EXPECT_EQ(pieces(tokens, "<s><u>", false), (Pieces{{"<s>", -1}, {"<u>", 2}}));
}

TEST(AddedTokens, StripsAndSingleWords) {
  AddedToken mask = token("<m>", 1);
  mask.strip_left = mask.strip_right = true;
  AddedToken word = token("cat", 2);
  word.single_word = true;
  const AddedTokens tokens({mask, word});
  EXPECT_EQ(pieces(tokens, "a \xC2\xA0<m>\n b"), (Pieces{{"a", -1}, {"<m>", 1}, {"b", -1}}));
  EXPECT_EQ(pieces(tokens,
                   "cat cats \xC3\xA9"
                   "cat"),
            (Pieces{{"cat", 2},
                    {" cats \xC3\xA9"
                     "cat",
                     -1}}));
}

}  // namespace
}  // namespace orrery::text
