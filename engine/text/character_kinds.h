// What word patterns ask of a character, looked up in a table.
#pragma once

#include <array>
#include <cstdint>

namespace orrery::text {

enum CharacterKind : uint8_t {
  kLetter = 1,
  kNumber = 2,
  kSpace = 4,        // White_Space
  kUpper = 8,        // Lu, Lt, Lm, Lo, M: what the first part of a word with case holds
  kLower = 16,       // Ll, Lm, Lo, M: what its second part holds
  kNewLine = 32,     // CR and LF, which are kSpace too
  kPunctuation = 64  // as the reference has it
};

constexpr std::array<uint8_t, 128> make_ascii_kinds() {
  std::array<uint8_t, 128> kinds{};
  for (int c = '!'; c <= '~'; ++c) kinds[c] = kPunctuation;
  for (int c = 'a'; c <= 'z'; ++c) kinds[c] = kLetter | kLower;
  for (int c = 'A'; c <= 'Z'; ++c) kinds[c] = kLetter | kUpper;
  for (int c = '0'; c <= '9'; ++c) kinds[c] = kNumber;
  for (const int c : {'\t', '\v', '\f', ' '}) kinds[c] = kSpace;
  for (const int c : {'\r', '\n'}) kinds[c] = kSpace | kNewLine;
  return kinds;
}
inline constexpr std::array<uint8_t, 128> kAsciiKinds = make_ascii_kinds();

/// Of the code points below U+10000. Made at the first call.
const std::array<uint8_t, 0x10000>& character_kind_table();
/// Of any code point.
uint8_t make_character_kinds(char32_t value);

inline uint8_t character_kinds(char32_t value) {
  if (value < kAsciiKinds.size()) return kAsciiKinds[value];
  static const std::array<uint8_t, 0x10000>& table = character_kind_table();
  return value < table.size() ? table[value] : make_character_kinds(value);
}

}  // namespace orrery::text
