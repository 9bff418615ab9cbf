// Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC 2011): a
// random number as a pure function of key and counter, so a draw depends on its seed and its position only.
// One round, on counter (c0, c1, c2, c3) and key (k0, k1), with hi:lo the 64-bit products M0 c0 and M1 c2:
//   (hi1 ^ c1 ^ k0, lo1, hi0 ^ c3 ^ k1, lo0), then the key grows by the Weyl constants (W0, W1). Ten rounds.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/host_device.h"

namespace orrery::kernels {

constexpr int kPhiloxRounds = 10;
constexpr uint32_t kPhiloxWeyl0 = 0x9E3779B9;  // golden ratio
constexpr uint32_t kPhiloxWeyl1 = 0xBB67AE85;  // sqrt(3) - 1

ORRERY_HOST_DEVICE_INLINE constexpr void philox_round(uint32_t (&counter)[4], uint32_t key0, uint32_t key1) {
  constexpr uint64_t kMultiplier0 = 0xD2511F53;
  constexpr uint64_t kMultiplier1 = 0xCD9E8D57;
  const uint64_t product0 = kMultiplier0 * counter[0];
  const uint64_t product1 = kMultiplier1 * counter[2];
  counter[0] = static_cast<uint32_t>(product1 >> 32) ^ counter[1] ^ key0;
  counter[1] = static_cast<uint32_t>(product1);
  counter[2] = static_cast<uint32_t>(product0 >> 32) ^ counter[3] ^ key1;
  counter[3] = static_cast<uint32_t>(product0);
}

/// Ten rounds: the counter becomes four random words.
ORRERY_HOST_DEVICE_INLINE constexpr void philox_rounds(uint32_t (&counter)[4], uint32_t key0, uint32_t key1) {
  for (int round = 0; round < kPhiloxRounds; ++round) {
    philox_round(counter, key0, key1);
    key0 += kPhiloxWeyl0;
    key1 += kPhiloxWeyl1;
  }
}

/// The keys of all rounds, for who draws many words by one key and would make them again each time.
struct PhiloxKeys {
  uint32_t key0[kPhiloxRounds] = {}, key1[kPhiloxRounds] = {};

  explicit constexpr PhiloxKeys(uint64_t key) {
    for (uint32_t round = 0; round < kPhiloxRounds; ++round) {
      key0[round] = static_cast<uint32_t>(key) + round * kPhiloxWeyl0;
      key1[round] = static_cast<uint32_t>(key >> 32) + round * kPhiloxWeyl1;
    }
  }
};
ORRERY_HOST_DEVICE_INLINE constexpr void philox_rounds(uint32_t (&counter)[4], const PhiloxKeys& keys) {
  for (int round = 0; round < kPhiloxRounds; ++round)
    philox_round(counter, keys.key0[round], keys.key1[round]);
}

constexpr std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key) {
  uint32_t words[4] = {counter[0], counter[1], counter[2], counter[3]};
  philox_rounds(words, key[0], key[1]);
  return {words[0], words[1], words[2], words[3]};
}

/// Uniform in [0, 1) with 53 bits: the draw at `position` of the numbers that `seed` and `stream` name.
constexpr double philox_uniform(uint64_t seed, uint64_t position, uint32_t stream = 0) {
  const auto words =
      philox4x32({static_cast<uint32_t>(position), static_cast<uint32_t>(position >> 32), stream, 0},
                 {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)});
  const uint64_t bits = (static_cast<uint64_t>(words[1]) << 32 | words[0]) >> 11;
  return static_cast<double>(bits) * 0x1p-53;
}

}  // namespace orrery::kernels
