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

inline uint64_t hash_bytes(std::string_view bytes) {
  uint64_t hash = bytes.size();
  const char* at = bytes.data();
  size_t left = bytes.size();
  for (; left >= 8; left -= 8, at += 8) {
    uint64_t part;
    std::memcpy(&part, at, 8);
    hash = mix(hash ^ part);
  }
  uint64_t part = 0;
  if (left) std::memcpy(&part, at, left);
  return mix(hash ^ part);
}

}  // namespace orrery::text
