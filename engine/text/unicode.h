// Unicode as the tokenizers need it: UTF-8 that is walked without ever reading past its end, categories,
// normal forms.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace orrery::text {

inline constexpr char32_t kReplacement = 0xFFFD;
inline constexpr std::string_view kSpaceMark = "\xE2\x96\x81";  // U+2581, SentencePiece's space

struct CodePoint {
  char32_t value = kReplacement;
  uint32_t bytes =
      1;  // how many bytes it takes; of an invalid sequence its longest well-formed start, at least 1
  bool valid = false;
};
/// The code point at `position`, which must be below text.size(). Overlong forms, surrogates and values above
/// U+10FFFF are invalid (Unicode 15, table 3-7).
CodePoint long_code_point_at(std::string_view text, size_t position);
inline CodePoint code_point_at(std::string_view text, size_t position) {
  const auto first = static_cast<uint8_t>(text[position]);
  return first < 0x80 ? CodePoint{first, 1, true} : long_code_point_at(text, position);
}
/// Bytes at the end of `text` that start a sequence whose rest may still come: 0 to 3.
size_t incomplete_tail(std::string_view text);

bool is_valid_utf8(std::string_view text);
bool is_ascii(std::string_view text);
/// Each invalid sequence becomes U+FFFD.
std::string replace_invalid(std::string_view text);
void append_utf8(std::string& text, char32_t value);
std::string replace_all(std::string_view text, std::string_view from, std::string_view to);
size_t count_code_points(std::string_view text);

bool is_white_space(char32_t value);      // property White_Space
bool is_other(char32_t value);            // Cc, Cf, Co, Cs
bool is_punctuation(char32_t value);      // P*, and all ASCII punctuation
bool is_nonspacing_mark(char32_t value);  // Mn
bool is_word_character(char32_t value);   // letter, mark, digit, underscore
bool is_number(char32_t value);           // N*
/// Punctuation as the reference has it: Unicode 8's.
bool is_reference_punctuation(char32_t value);
/// The general categories that word patterns tell apart.
enum class GeneralCategory : uint8_t {
  other,
  uppercase_letter,
  lowercase_letter,
  titlecase_letter,
  modifier_letter,
  other_letter,
  mark,
  number
};
GeneralCategory general_category(char32_t value);
/// The end of the extended grapheme cluster that begins at `position`; bytes that are not UTF-8 stand alone.
size_t next_grapheme(std::string_view text, size_t position);
/// The CJK ideographs that BERT's normalizer puts spaces around.
bool is_cjk_ideograph(char32_t value);

enum class NormalForm : uint8_t { nfc, nfd, nfkc, nfkd };
/// Nothing where the text is not UTF-8.
std::optional<std::string> normalize_valid(std::string_view text, NormalForm form);
/// Invalid sequences are replaced first.
std::string normalize(std::string_view text, NormalForm form);
/// Full lower-case mapping of each code point, without context or locale.
std::string lowercase(std::string_view text);
std::string uppercase(std::string_view text);
std::string strip_nonspacing_marks(std::string_view text);  // NFD, then every Mn removed

}  // namespace orrery::text
