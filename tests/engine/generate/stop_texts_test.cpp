#include "engine/generate/stop_texts.h"

#include <gmock/gmock.h>

#include <random>

#include "engine/generate/encode_texts.h"

namespace orrery::generate {
namespace {

/// What comes out of a stream, pieces joined.
std::string stream(StopTexts& stops, const std::vector<std::string>& pieces) {
  std::string text;
  for (const std::string& piece : pieces) text += stops.push(piece);
  if (!stops.found()) text += stops.finish();
  return text;
}

TEST(StopTexts, EndsBeforeTheStopText) {
  StopTexts stops({"###"});
  EXPECT_EQ(stream(stops, {"one", " two###three", "four"}), "one two");
  EXPECT_TRUE(stops.found());
}

TEST(StopTexts, FindsOneThatIsSplit) {
  StopTexts stops({"END"});
  EXPECT_EQ(stops.push("aE"), "a");
  EXPECT_EQ(stops.push("N"), "");
  EXPECT_EQ(stops.push("Dmore"), "");
  EXPECT_TRUE(stops.found());
}

TEST(StopTexts, GivesBackWhatOnlyBeganLikeOne) {
  StopTexts stops({"END"});
  EXPECT_EQ(stops.push("aEN"), "a");
  EXPECT_EQ(stops.push("E"), "EN");
  EXPECT_EQ(stops.finish(), "E");
}

TEST(StopTexts, TakesTheFirstOfSeveral) {
  StopTexts stops({"bb", "a"});
  EXPECT_EQ(stream(stops, {"xxbb", "a"}), "xx");
  StopTexts other({"ccc", "cd"});
  EXPECT_EQ(stream(other, {"c", "c", "d"}), "c");
}

TEST(StopTexts, NoStopsChangeNothing) {
  StopTexts stops({"", ""});
  EXPECT_EQ(stream(stops, {"a", "", "b"}), "ab");
}

TEST(StopTexts, AnySplitGivesTheSame) {
  std::mt19937 random(3);
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    for (int i = 0; i < 24; ++i) text += static_cast<char>('a' + random() % 3);
    const std::vector<std::string> wanted{"abca", "bb"};
    const size_t end = std::min(text.find(wanted[0]), text.find(wanted[1]));
    std::vector<std::string> pieces;
    for (size_t at = 0; at < text.size();) {
      const size_t length = random() % 4;
      pieces.push_back(text.substr(at, length));
      at += length;
    }
    StopTexts stops(wanted);
    EXPECT_EQ(stream(stops, pieces), text.substr(0, end)) << text;
  }
}

TEST(Softmax, SumsToOneAndSurvivesLargeLogits) {
  EXPECT_THAT(softmax(std::vector<float>{1000.0F, 1000.0F}), testing::ElementsAre(0.5F, 0.5F));
  const auto values = softmax(std::vector<float>{1.0F, 2.0F, 3.0F});
  EXPECT_NEAR(values[2], 0.66524, 1e-5);
  EXPECT_NEAR(values[0] + values[1] + values[2], 1.0, 1e-6);
}

}  // namespace
}  // namespace orrery::generate
