#include "engine/base/base64.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

TEST(Base64, IsThatOfTheStandardBothWays) {
  const std::pair<const char*, const char*> kVectors[] = {{"", ""},
                                                          {"f", "Zg=="},
                                                          {"fo", "Zm8="},
                                                          {"foo", "Zm9v"},
                                                          {"foob", "Zm9vYg=="},
                                                          {"fooba", "Zm9vYmE="},
                                                          {"foobar", "Zm9vYmFy"},
                                                          {"\xfb\xff\xbe", "+/++"}};
  for (const auto& [bytes, text] : kVectors) {
    EXPECT_EQ(to_base64(std::as_bytes(std::span(std::string_view(bytes)))), text);
    EXPECT_EQ(from_base64(text), bytes);
  }
  EXPECT_EQ(from_base64("Zg"), "f");
  EXPECT_FALSE(from_base64("Zm9v!"));
  EXPECT_FALSE(from_base64("Zm 9v"));
}

}  // namespace
}  // namespace orrery
