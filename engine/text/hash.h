// A fast hash of short byte strings, for tables that live in memory only.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace orrery::text {

inline uint64_t mix(uint64_t value) {
  value *= 0x9E3779B97F4A7C15U;
  return value ^ (value >> 32);
}

inline uint64_t load_eight(const char* at) {
  uint64_t value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

/// The first `count` bytes, 0 to 7; the rest is zero. Loads that overlap cost less than a copy of any length.
inline uint64_t load_few(const char* at, size_t count) {
  const auto byte = [&](size_t i) { return static_cast<uint64_t>(static_cast<uint8_t>(at[i])) << (8 * i); };
  if (count >= 4) {
    uint32_t low, high;
    std::memcpy(&low, at, sizeof low);
    std::memcpy(&high, at + count - sizeof high, sizeof high);
    return low | static_cast<uint64_t>(high) << (8 * (count - sizeof high));
  }
  return count == 0 ? 0 : byte(0) | byte(count / 2) | byte(count - 1);
}

inline uint64_t hash_bytes(std::string_view bytes) {
  uint64_t hash = bytes.size();
  const char* at = bytes.data();
  size_t left = bytes.size();
  for (; left >= 8; left -= 8, at += 8) hash = mix(hash ^ load_eight(at));
  return mix(hash ^ load_few(at, left));
}

}  // namespace orrery::text
