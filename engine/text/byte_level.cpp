#include "engine/text/byte_level.h"

#include <array>

#include "engine/text/unicode.h"

namespace orrery::text {
namespace {

constexpr int kCharacters = 0x144;  // the highest character is U+0143

constexpr bool stands_for_itself(int byte) {
  return (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || (byte >= 174 && byte <= 255);
}

constexpr std::array<char32_t, 256> make_characters() {
  std::array<char32_t, 256> characters{};
  char32_t next = 0x100;
  for (int byte = 0; byte < 256; ++byte)
    characters[byte] = stands_for_itself(byte) ? static_cast<char32_t>(byte) : next++;
  return characters;
}
constexpr std::array<char32_t, 256> kCharacterOf = make_characters();

constexpr std::array<int, kCharacters> make_bytes() {
  std::array<int, kCharacters> bytes{};
  for (int& byte : bytes) byte = -1;
  for (int byte = 0; byte < 256; ++byte) bytes[kCharacterOf[byte]] = byte;
  return bytes;
}
constexpr std::array<int, kCharacters> kByteOf = make_bytes();

}  // namespace

std::string bytes_to_characters(std::string_view bytes) {
  std::string characters;
  characters.reserve(bytes.size() * 2);
  for (const char byte : bytes) append_utf8(characters, kCharacterOf[static_cast<uint8_t>(byte)]);
  return characters;
}

std::optional<std::string> characters_to_bytes(std::string_view characters) {
  std::string bytes;
  bytes.reserve(characters.size());
  for (size_t i = 0; i < characters.size();) {
    const CodePoint point = code_point_at(characters, i);
    if (!point.valid || point.value >= kCharacters || kByteOf[point.value] < 0) return std::nullopt;
    bytes.push_back(static_cast<char>(kByteOf[point.value]));
    i += point.bytes;
  }
  return bytes;
}

}  // namespace orrery::text
