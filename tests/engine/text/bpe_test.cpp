#include "engine/text/bpe.h"

#include <gtest/gtest.h>

#include "engine/text/added_tokens.h"
#include "engine/text/byte_level_bpe.h"
#include "test_models.h"

namespace orrery::text {
namespace {

using Ids = std::vector<TokenId>;

// a b c ab bc abc: rank order decides between (ab)c and a(bc).
BpeParts small() {
  BpeParts parts;
  parts.tokens = {"a",
                  "b",
                  "c",
                  "ab",
                  "bc",
                  "abc",
                  "<x>",
                  "\xC4\xA0",
                  "\xC4\xA0"
                  "a"};
  parts.merges = {{"b", "c"}, {"a", "b"}, {"ab", "c"}, {"\xC4\xA0", "a"}};
  AddedToken added;
  added.content = "<x>";
  added.id = 6;
  parts.added = {added};
  return parts;
}

std::shared_ptr<const Tokenizer> make(BpeParts parts) {
  auto made = make_byte_level_bpe(std::move(parts));
  EXPECT_TRUE(made.ok()) << (made.ok() ? "" : made.error().to_string());
  return made.ok() ? *made : nullptr;
}

TEST(Bpe, LowestRankFirst) {
  EXPECT_EQ(make(small())->encode("abc", false), (Ids{0, 4}));
  EXPECT_EQ(make(small())->encode("abab", false), (Ids{3, 3}));
  EXPECT_EQ(make(small())->encode("abbc", false), (Ids{3, 4}));
}

TEST(Bpe, WholeWordsGoBeforeMerges) {
  BpeParts parts = small();
  parts.ignore_merges = true;
  EXPECT_EQ(make(std::move(parts))->encode("abc", false), Ids{5});
}

TEST(Bpe, PrefixSpaceAndSurroundings) {
  BpeParts parts = small();
  parts.prefix_space = true;
  parts.before = {6};
  parts.after = {2};
  const auto tokenizer = make(std::move(parts));
  EXPECT_EQ(tokenizer->encode("a", true), (Ids{6, 8, 2}));
  EXPECT_EQ(tokenizer->encode("a", false), Ids{8});
}

TEST(Bpe, UnknownBytes) {
  EXPECT_EQ(make(small())->encode("aza", false), (Ids{0, 0}));
  BpeParts parts = small();
  parts.unknown = 6;
  EXPECT_EQ(make(std::move(parts))->encode("aza", false), (Ids{0, 6, 0}));
}

TEST(Bpe, RefusesDamage) {
  BpeParts unknown_merge = small();
  unknown_merge.merges.push_back({"a", "zzz"});
  EXPECT_EQ(make_byte_level_bpe(std::move(unknown_merge)).error().code, ErrorCode::corrupt_file);
  BpeParts no_result = small();
  no_result.merges.push_back({"c", "c"});
  EXPECT_FALSE(make_byte_level_bpe(std::move(no_result)).ok());
  BpeParts negative = small();
  negative.added[0].id = -7;
  EXPECT_FALSE(make_byte_level_bpe(std::move(negative)).ok());
  BpeParts high = small();
  high.before = {9};
  EXPECT_FALSE(make_byte_level_bpe(std::move(high)).ok());
  BpeParts end = small();
  end.ends = {99};
  EXPECT_FALSE(make_byte_level_bpe(std::move(end)).ok());
  EXPECT_FALSE(make_byte_level_bpe(BpeParts{}).ok());
  BpeParts no_bytes = small();
  no_bytes.tokens = {"xyz"};
  no_bytes.merges = {};
  no_bytes.added = {};
  EXPECT_FALSE(make_byte_level_bpe(std::move(no_bytes)).ok());
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
  for (const auto& piece : tokens.split(text, special)) list.emplace_back(piece.text, piece.id);
  return list;
}
using Pieces = std::vector<std::pair<std::string, TokenId>>;

TEST(AddedTokens, LeftmostThenLongest) {
  AddedTokens tokens;
  tokens.add(token("<a>", 1));
  tokens.add(token("<a>b", 2));
  tokens.add(token("", 3));
  EXPECT_EQ(pieces(tokens, "x<a>b<a>"), (Pieces{{"x", -1}, {"<a>b", 2}, {"<a>", 1}}));
  EXPECT_EQ(pieces(tokens, "<<a"), (Pieces{{"<<a", -1}}));
  EXPECT_EQ(pieces(tokens, ""), Pieces{});
}

TEST(AddedTokens, UserDefinedOnesAreFoundWithoutParsingSpecial) {
  AddedTokens tokens;
  tokens.add(token("<s>", 1));
  tokens.add(token("<u>", 2, false));
  EXPECT_EQ(pieces(tokens, "<s><u>", false), (Pieces{{"<s>", -1}, {"<u>", 2}}));
}

TEST(AddedTokens, StripsAndSingleWords) {
  AddedTokens tokens;
  AddedToken mask = token("<m>", 1);
  mask.strip_left = mask.strip_right = true;
  tokens.add(mask);
  AddedToken word = token("cat", 2);
  word.single_word = true;
  tokens.add(word);
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
