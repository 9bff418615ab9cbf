#include <gtest/gtest.h>

#include "engine/text/tokenizer.h"
#include "engine/text/unicode.h"
#include "test_models.h"

namespace orrery::text {
namespace {

TEST(StreamingDecoder, HoldsBackUntilWhole) {
  StreamingDecoder decoder;
  EXPECT_EQ(decoder.push("a\xF0"), "a");
  EXPECT_EQ(decoder.push("\x9F\x98"), "");
  EXPECT_EQ(decoder.push("\x80z"), "\xF0\x9F\x98\x80z");
  EXPECT_EQ(decoder.finish(), "");
}

TEST(StreamingDecoder, ReplacesWhatNeverBecomesWhole) {
  StreamingDecoder decoder;
  EXPECT_EQ(decoder.push("\x80\xE2"), "\xEF\xBF\xBD");
  EXPECT_EQ(decoder.push("x"), "\xEF\xBF\xBDx");
  EXPECT_EQ(decoder.push("\xC3"), "");
  EXPECT_EQ(decoder.finish(), "\xEF\xBF\xBD");
  EXPECT_EQ(decoder.finish(), "");
}

TEST(StreamingDecoder, AWholeTextLosesTheSpaceBeforeIt) {
  for (const bool whole : {true, false}) {
    StreamingDecoder decoder(whole);
    EXPECT_EQ(decoder.push(""), "");
    EXPECT_EQ(decoder.push("  two"), whole ? " two" : "  two");
    EXPECT_EQ(decoder.push(" three"), " three");
  }
  StreamingDecoder decoder(true);
  EXPECT_EQ(decoder.push("one"), "one");
  EXPECT_EQ(decoder.push(" two"), " two");
}

TEST(StreamingDecoder, JoinsToTheSameTextHoweverItIsCut) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const std::string bytes = seed % 2 ? test::random_bytes(seed, 200) : test::random_text(seed, 80);
    StreamingDecoder decoder;
    std::string text;
    for (size_t i = 0; i < bytes.size();) {
      const size_t count = std::min<size_t>(1 + (seed + i) % 5, bytes.size() - i);
      const std::string part = decoder.push(std::string_view(bytes).substr(i, count));
      EXPECT_TRUE(is_valid_utf8(part));
      text += part;
      i += count;
    }
    text += decoder.finish();
    EXPECT_EQ(text, replace_invalid(bytes)) << seed;
  }
}

}  // namespace
}  // namespace orrery::text
