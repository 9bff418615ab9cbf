#include "engine/base/base64.h"

#include <cstdint>

namespace orrery {
namespace {

constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string to_base64(std::span<const std::byte> bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  uint32_t pending = 0;
  int bits = 0;
  for (const std::byte byte : bytes) {
    pending = (pending << 8 | std::to_integer<uint32_t>(byte)) & 0xFFFFFU;
    for (bits += 8; bits >= 6;) {
      bits -= 6;
      text += kDigits[pending >> bits & 63U];
    }
  }
  if (bits > 0) text += kDigits[pending << (6 - bits) & 63U];
  text.resize((text.size() + 3) / 4 * 4, '=');
  return text;
}

std::optional<std::string> from_base64(std::string_view text) {
  while (text.ends_with('=')) text.remove_suffix(1);
  std::string bytes;
  bytes.reserve(text.size() * 3 / 4);
  uint32_t pending = 0;
  int bits = 0;
  for (const char c : text) {
    const size_t digit = kDigits.find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    pending = (pending << 6 | static_cast<uint32_t>(digit)) & 0xFFFFFU;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push_back(static_cast<char>(pending >> bits));
  }
  return bytes;
}

}  // namespace orrery
