#include "engine/text/unicode.h"

#include <gtest/gtest.h>
#include <utf8proc.h>

#include <cstdlib>
#include <random>

#include "engine/text/byte_level.h"
#include "test_models.h"

namespace orrery::text {
namespace {

TEST(Unicode, WalksValidText) {
  const std::string text = "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80";
  std::vector<char32_t> points;
  for (size_t i = 0; i < text.size();) {
    const CodePoint point = code_point_at(text, i);
    EXPECT_TRUE(point.valid);
    points.push_back(point.value);
    i += point.bytes;
  }
  EXPECT_EQ(points, (std::vector<char32_t>{'a', 0xE9, 0x20AC, 0x1F600}));
}

TEST(Unicode, RefusesWhatIsNotUtf8) {
  for (const std::string bad :
       {"\x80", "\xC0\x80", "\xC1\xBF", "\xE0\x80\x80", "\xED\xA0\x80", "\xF0\x80\x80\x80",
        "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF", "\xE2\x82", "\xF0\x9F\x98"})
    EXPECT_FALSE(is_valid_utf8(bad));
  // The longest well-formed start is one replacement, as the standard recommends.
  EXPECT_EQ(replace_invalid("\xF0\x9F\x98|\xE2\x82|\xC0\x80"),
            "\xEF\xBF\xBD|\xEF\xBF\xBD|\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(Unicode, IncompleteTail) {
  EXPECT_EQ(incomplete_tail("abc"), 0U);
  EXPECT_EQ(incomplete_tail("abc\xF0\x9F\x98"), 3U);
  EXPECT_EQ(incomplete_tail("abc\xE2\x82"), 2U);
  EXPECT_EQ(incomplete_tail("abc\xC3"), 1U);
  EXPECT_EQ(incomplete_tail("abc\xC3\xA9"), 0U);
  EXPECT_EQ(incomplete_tail("\x80\x80\x80"), 0U);
  EXPECT_EQ(incomplete_tail("\xED\xA0"), 0U);  // a surrogate never becomes whole
  EXPECT_EQ(incomplete_tail(""), 0U);
}

TEST(Unicode, NormalForms) {
  EXPECT_EQ(normalize("e\xCC\x81", NormalForm::nfc), "\xC3\xA9");
  EXPECT_EQ(normalize("\xC3\xA9", NormalForm::nfd), "e\xCC\x81");
  EXPECT_EQ(normalize("\xEF\xAC\x81", NormalForm::nfkc), "fi");
  EXPECT_EQ(strip_nonspacing_marks("\xC3\x85ngstr\xC3\xB6m"), "Angstrom");
  EXPECT_EQ(normalize("\xFFx", NormalForm::nfc), "\xEF\xBF\xBDx");
}

/// ASCII, marks that join and trade places, Hangul parts, ligatures, half-width kana: in any order.
TEST(Unicode, NormalFormsArePartedNowhere) {
  static constexpr char32_t kPoints[] = {'a',    'e',    ' ',    '=',    0x301,   0x327,  0x323,
                                         0x338,  0xE9,   0xFB01, 0xAC00, 0x1100,  0x1161, 0x11A8,
                                         0x212B, 0xFF76, 0xFF9E, 0x0958, 0x1D15E, 0x340};
  std::mt19937 random(1);
  using Map = utf8proc_uint8_t* (*)(const utf8proc_uint8_t*);
  const std::pair<NormalForm, Map> forms[] = {{NormalForm::nfc, utf8proc_NFC},
                                              {NormalForm::nfd, utf8proc_NFD},
                                              {NormalForm::nfkc, utf8proc_NFKC},
                                              {NormalForm::nfkd, utf8proc_NFKD}};
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    for (size_t length = random() % 24; length > 0; --length)
      append_utf8(text, kPoints[random() % std::size(kPoints)]);
    for (const auto& [form, map] : forms) {
      utf8proc_uint8_t* whole = map(reinterpret_cast<const utf8proc_uint8_t*>(text.c_str()));
      ASSERT_EQ(normalize(text, form), reinterpret_cast<const char*>(whole)) << text;
      std::free(whole);
    }
  }
}

TEST(Unicode, Case) {
  EXPECT_EQ(lowercase("\xC3\x84\xC3\x96 ABC \xD0\x9F"), "\xC3\xA4\xC3\xB6 abc \xD0\xBF");
  EXPECT_EQ(lowercase("\xC4\xB0"), "i\xCC\x87");
  EXPECT_EQ(uppercase("stra\xC3\x9F"
                      "e"),
            "STRASSE");
}

TEST(Unicode, Kinds) {
  EXPECT_TRUE(is_white_space(0x3000));
  EXPECT_FALSE(is_white_space(0x200B));
  EXPECT_TRUE(is_punctuation('$'));  // ASCII symbols count, others do not
  EXPECT_FALSE(is_punctuation(0x20AC));
  EXPECT_TRUE(is_punctuation(0x3001));
  EXPECT_TRUE(is_cjk_ideograph(0x4E2D));
  EXPECT_FALSE(is_cjk_ideograph(0x30C6));
  EXPECT_TRUE(is_other(0x200D));
}

TEST(ByteLevel, MapsAllBytesThereAndBack) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all.push_back(static_cast<char>(byte));
  const std::string characters = bytes_to_characters(all);
  EXPECT_EQ(count_code_points(characters), 256U);
  EXPECT_TRUE(is_valid_utf8(characters));
  EXPECT_EQ(characters_to_bytes(characters), all);
  EXPECT_EQ(bytes_to_characters(" \n"), "\xC4\xA0\xC4\x8A");
  EXPECT_EQ(characters_to_bytes("\xE4\xB8\xAD"), std::nullopt);
  EXPECT_EQ(characters_to_bytes("\xFF"), std::nullopt);
}

TEST(Unicode, RandomBytesAreWalkedToTheirEnd) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const std::string bytes = test::random_bytes(seed, seed);
    size_t position = 0;
    while (position < bytes.size()) position += code_point_at(bytes, position).bytes;
    EXPECT_EQ(position, bytes.size());
    EXPECT_TRUE(is_valid_utf8(replace_invalid(bytes)));
  }
}

}  // namespace
}  // namespace orrery::text
