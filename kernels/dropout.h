// Dropout of a matrix whose mask is drawn wherever it is needed, and kept nowhere: Philox4x32-10 with the key
// seed at counter (c / 4, r, stream). Its word c % 4 without the low 8 bits is a number k of 24 bits, and
// k 2^-24 <= 1 - p keeps element (r, c). It depends on seed, stream, row and column only, not on who draws
// it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/host_device.h"
#include "kernels/philox.h"

namespace orrery::kernels {

/// Which elements stay, and what they are multiplied by.
struct Dropout {
  static constexpr uint32_t kNumbers = 1U << 24;
  // Draws of one seed for different purposes have different counters.
  static constexpr uint32_t kNormStream = 0x64726f70, kSecondNormStream = 0x64726f32,
                            kAttentionStream = 0x61747464;

  PhiloxKeys keys{0};  // of all rounds, made once from the seed
  uint32_t stream = kNormStream;
  double p = 0;                  // in [0, 1)
  uint32_t most = kNumbers - 1;  // the largest number that stays
  float scale = 1.0F;            // 1 / (1 - p)

  Dropout() = default;
  Dropout(double probability, uint64_t seed_of_mask, uint32_t stream_of_mask = kNormStream)
      : keys(seed_of_mask),
        stream(stream_of_mask),
        p(probability),
        most(std::min(static_cast<uint32_t>((1.0 - probability) * kNumbers), kNumbers - 1)),
        scale(static_cast<float>(1.0 / (1.0 - probability))) {}

  /// The mask of the same seed and p for another purpose.
  ORRERY_HOST_DEVICE_INLINE Dropout of(uint32_t other_stream) const {
    Dropout other = *this;
    other.stream = other_stream;
    return other;
  }
  ORRERY_HOST_DEVICE_INLINE bool drops() const { return most < kNumbers - 1; }
  ORRERY_HOST_DEVICE_INLINE uint64_t seed() const {
    return static_cast<uint64_t>(keys.key1[0]) << 32 | keys.key0[0];
  }
  /// The words that decide of columns [4 group, 4 group + 4) of a row.
  ORRERY_HOST_DEVICE_INLINE void words(int64_t row, int64_t group, uint32_t (&four)[4]) const {
    set_counter(row, group, stream, four);
    philox_rounds(four, keys);
  }
  /// The counter from which Philox makes the words of those columns.
  ORRERY_HOST_DEVICE_INLINE static void set_counter(int64_t row, int64_t group, uint32_t stream,
                                                    uint32_t (&counter)[4]) {
    counter[0] = static_cast<uint32_t>(group);
    counter[1] = static_cast<uint32_t>(row);
    counter[2] = static_cast<uint32_t>(static_cast<uint64_t>(row) >> 32);
    counter[3] = stream;
  }
  ORRERY_HOST_DEVICE_INLINE bool keeps(uint32_t word) const { return word <= (most << 8 | 0xFF); }
  ORRERY_HOST_DEVICE_INLINE bool keeps(int64_t row, int64_t col) const {
    uint32_t four[4] = {};
    words(row, col / 4, four);
    return keeps(four[col % 4]);
  }
};

}  // namespace orrery::kernels
