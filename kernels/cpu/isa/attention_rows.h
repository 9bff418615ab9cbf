// The stored rows of one tile of keys and values: where they lie, and how they are read as float32.
#pragma once

#include "kernels/cpu/isa/attention.h"
#include "kernels/cpu/isa/simd.h"

namespace orrery::kernels::ORRERY_ISA {

/// Row pointers of up to kTileKeys positions.
struct TileRows {
  const std::byte* key[kTileKeys];
  const std::byte* value[kTileKeys];
  int64_t begin, count;
};

ORRERY_INLINE void locate(const KeySource& keys, int64_t begin, TileRows& rows) {
  if (keys.pages == nullptr) {
    for (int64_t i = 0; i < rows.count; ++i) {
      rows.key[i] = keys.key + static_cast<size_t>(begin + i) * keys.key_stride;
      rows.value[i] = keys.value + static_cast<size_t>(begin + i) * keys.value_stride;
    }
    return;
  }
  int64_t index = begin / keys.page_tokens;
  int64_t slot = begin % keys.page_tokens;
  for (int64_t i = 0; i < rows.count; ++index, slot = 0) {
    const size_t page = static_cast<size_t>(keys.pages[index]) * keys.page_stride;
    for (; slot < keys.page_tokens && i < rows.count; ++slot, ++i) {
      rows.key[i] = keys.key + page + static_cast<size_t>(slot) * keys.key_stride;
      rows.value[i] = keys.value + page + static_cast<size_t>(slot) * keys.value_stride;
    }
  }
}

/// Pointers of the keys [begin, end); behind them, up to a whole vector, the last key again.
ORRERY_INLINE void find_rows(const KeySource& keys, int64_t begin, int64_t end, TileRows& rows) {
  rows.begin = begin;
  rows.count = end - begin;
  locate(keys, begin, rows);
  for (int64_t i = rows.count; i % kLanes != 0; ++i) rows.key[i] = rows.key[rows.count - 1];
}

template <KvFormat kFormat>
ORRERY_INLINE Vec load_elements(const std::byte* row, int64_t offset, int64_t n) {
  if constexpr (kFormat == KvFormat::q8_0) {  // whole blocks of 32: n is never less than a vector
    const std::byte* block = row + offset / 32 * 34;
    uint16_t scale;
    __builtin_memcpy(&scale, block, sizeof scale);
    return load_i8(block + 2 + offset % 32) * set1(_cvtsh_ss(scale));
  } else if constexpr (kFormat == KvFormat::f32) {
    const float* at = reinterpret_cast<const float*>(row) + offset;
    return n >= kLanes ? load(at) : load_part(at, n);
  } else {
    const uint16_t* at = reinterpret_cast<const uint16_t*>(row) + offset;
    if constexpr (kFormat == KvFormat::f16) return n >= kLanes ? load_f16(at) : load_part_f16(at, n);
    return n >= kLanes ? load_bf16(at) : load_part_bf16(at, n);
  }
}

/// Asks for a row's lines, into L2: L1 has no room beside the tiles. Inlined, or g++ drops the call.
template <KvFormat kFormat>
ORRERY_INLINE void prefetch(const std::byte* row, int64_t dim) {
  const int64_t bytes = kFormat == KvFormat::q8_0 ? dim / 32 * 34 : dim * (kFormat == KvFormat::f32 ? 4 : 2);
  for (int64_t b = 0; b < bytes; b += 64) _mm_prefetch(reinterpret_cast<const char*>(row + b), _MM_HINT_T1);
}

}  // namespace orrery::kernels::ORRERY_ISA
