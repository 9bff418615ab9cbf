#include "engine/text/byte_trie.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

namespace orrery::text {
namespace {

using Found = std::vector<std::pair<size_t, int32_t>>;

Found found_by(const ByteTrie& trie, std::string_view text) {
  Found found;
  trie.walk(text, [&](size_t bytes, int32_t value) { found.emplace_back(bytes, value); });
  return found;
}

Found expected_of(const std::map<std::string, int32_t>& strings, std::string_view text) {
  Found found;
  for (size_t bytes = 1; bytes <= text.size(); ++bytes)
    if (const auto at = strings.find(std::string(text.substr(0, bytes))); at != strings.end())
      found.emplace_back(bytes, at->second);
  return found;
}

/// Of the bytes that are hard to place: the lowest, the highest and some between.
std::string random_string(std::mt19937& random, size_t longest) {
  static constexpr char kBytes[] = {0, 1, 'a', 'b', 'c', '\x7F', '\x80', '\xFE', '\xFF'};
  std::string text(random() % (longest + 1), ' ');
  for (char& c : text) c = kBytes[random() % sizeof kBytes];
  return text;
}

TEST(ByteTrie, FindsAllAndOnlyWhatATextBeginsWith) {
  std::mt19937 random(7);
  for (const size_t count : {1U, 10U, 3000U}) {
    std::map<std::string, int32_t> strings;
    std::vector<ByteTrie::Entry> entries;
    for (size_t i = 0; i < count; ++i)
      if (const std::string text = random_string(random, 9); !text.empty())
        strings[text] = static_cast<int32_t>(i);
    for (const auto& [text, value] : strings) entries.push_back({text, value});
    const ByteTrie trie(std::move(entries));
    for (const auto& [text, value] : strings) ASSERT_EQ(found_by(trie, text).back().second, value);
    for (int i = 0; i < 20000; ++i) {
      const std::string text = random_string(random, 12);
      ASSERT_EQ(found_by(trie, text), expected_of(strings, text));
    }
  }
}

TEST(ByteTrie, EmptyOnesFindNothing) {
  EXPECT_TRUE(found_by(ByteTrie(), "abc").empty());
  EXPECT_TRUE(found_by(ByteTrie({{"", 3}}), "abc").empty());
  EXPECT_TRUE(found_by(ByteTrie({{"abc", 3}}), "").empty());
}

TEST(ByteTrie, OfEqualTextsTheLastCounts) {
  EXPECT_EQ(found_by(ByteTrie({{"ab", 1}, {"ab", 2}}), "abc"), (Found{{2, 2}}));
}

TEST(ByteTrie, StepsCountTheWholeWay) {
  std::vector<std::pair<size_t, int32_t>> steps;
  ByteTrie({{"a", 5}, {"abcd", 6}}).walk_all("abcx", [&](size_t bytes, int32_t value) {
    steps.emplace_back(bytes, value);
  });
  EXPECT_EQ(steps, (Found{{1, 5}, {2, -1}, {3, -1}}));
}

}  // namespace
}  // namespace orrery::text
