// Packing for the CUDA rows of Linear: threads own rows; each byte of the packed form is written once or, in
// the planes of bits, starts as zero. linear_packing.h has the layout.
#include "kernels/cuda/linear_packing.h"

#include <cstring>

#include "kernels/half.h"

namespace orrery::kernels::cuda {
namespace {

/// Where a column's quant goes inside its group.
struct Place {
  int j, t, i, e;
  explicit Place(int64_t column)
      : j(static_cast<int>(column % kGroup / 32)),
        t(static_cast<int>(column % 16 / 4)),
        i(static_cast<int>(column % 32 / 16)),
        e(static_cast<int>(column % 4)) {}
  int pair() const { return 2 * i + e / 2; }
};

/// ORs `bits` into the little-endian word at `word`, from bit `at` on.
void put_bits(uint8_t* word, int at, int bits) {
  word[at / 8] = static_cast<uint8_t>(word[at / 8] | (bits << (at % 8)));
}

void put_nibble(uint8_t* quants, int64_t column, int value) {
  const Place p(column);
  put_bits(quants + column / kGroup * 64 + 16 * p.t + 4 * p.j, 4 * p.pair() + 16 * (p.e % 2), value);
}

void put_high(uint8_t* high, int64_t column, int value) {
  const Place p(column);
  uint8_t* word = high + column / kGroup * 32 + 8 * p.t + 4 * (p.j / 2);
  put_bits(word, high_bit(p.j % 2, p.pair()) + 16 * (p.e % 2), value);
}

void put_byte(uint8_t* quants, int64_t column, uint8_t value) {
  const Place p(column);
  quants[column / kGroup * 128 + 64 * (p.j / 2) + 16 * p.t + 8 * (p.j % 2) + 4 * p.i + p.e] = value;
}

void put_fifth(uint8_t* high, int64_t column, int value) {
  const Place p(column);
  put_bits(high + column / kGroup * 16 + 4 * p.t, fifth_bit(p.j, p.pair()) + 16 * (p.e % 2), value);
}

/// Q4_0 and IQ4_NL (head 2), Q4_1 (head 4), MXFP4 (head 1).
void pack_q4(const uint8_t* src, int64_t blocks, int head, uint8_t* dst, const PackedRow& row) {
  for (int64_t b = 0; b < blocks; ++b, src += head + 16) {
    std::memcpy(dst + row.scales + b * head, src, static_cast<size_t>(head));
    for (int j = 0; j < 16; ++j) {
      put_nibble(dst, b * 32 + j, src[head + j] & 15);
      put_nibble(dst, b * 32 + j + 16, src[head + j] >> 4);
    }
  }
}

/// Q5_0 (head 2) and Q5_1 (head 4).
void pack_q5(const uint8_t* src, int64_t blocks, int head, uint8_t* dst, const PackedRow& row) {
  for (int64_t b = 0; b < blocks; ++b, src += head + 20) {
    std::memcpy(dst + row.scales + b * head, src, static_cast<size_t>(head));
    const uint8_t* high = src + head;
    const uint8_t* nibbles = high + 4;
    for (int j = 0; j < 32; ++j) {
      put_nibble(dst, b * 32 + j, j < 16 ? nibbles[j] & 15 : nibbles[j - 16] >> 4);
      put_fifth(dst + row.high, b * 32 + j, (high[j / 8] >> (j % 8)) & 1);
    }
  }
}

void pack_q8_0(const uint8_t* src, int64_t blocks, uint8_t* dst, const PackedRow& row) {
  for (int64_t b = 0; b < blocks; ++b, src += 34) {
    std::memcpy(dst + row.scales + b * 2, src, 2);
    for (int j = 0; j < 32; ++j) put_byte(dst, b * 32 + j, src[2 + j]);
  }
}

void pack_q4_k(const uint8_t* src, int64_t blocks, uint8_t* dst, const PackedRow& row) {
  for (int64_t b = 0; b < blocks; ++b, src += 144) {
    std::memcpy(dst + row.scales + b * 16, src, 16);
    for (int c = 0; c < 4; ++c) {
      for (int j = 0; j < 32; ++j) {
        const int byte = src[16 + 32 * c + j];
        put_nibble(dst, b * 256 + 64 * c + j, byte & 15);
        put_nibble(dst, b * 256 + 64 * c + 32 + j, byte >> 4);
      }
    }
  }
}

void pack_q5_k(const uint8_t* src, int64_t blocks, uint8_t* dst, const PackedRow& row) {
  for (int64_t b = 0; b < blocks; ++b, src += 176) {
    std::memcpy(dst + row.scales + b * 16, src, 16);
    for (int at = 0; at < 256; ++at) {
      const int byte = src[48 + at / 64 * 32 + at % 32];
      put_nibble(dst, b * 256 + at, at % 64 < 32 ? byte & 15 : byte >> 4);
      put_fifth(dst + row.high, b * 256 + at, (src[16 + at % 32] >> (at / 32)) & 1);
    }
  }
}

/// Two bits of element `at` of 256 (Q2_K, Q3_K).
int pair_at(const uint8_t* pairs, int at) {
  return (pairs[at / 128 * 32 + at % 32] >> (at % 128 / 32 * 2)) & 3;
}

void pack_q2_k(const uint8_t* src, int64_t blocks, uint8_t* dst, const PackedRow& row) {
  for (int64_t b = 0; b < blocks; ++b, src += 84) {
    std::memcpy(dst + row.scales + b * 16, src, 16);
    std::memcpy(dst + row.deltas + b * 4, src + 80, 4);
    for (int at = 0; at < 256; ++at) put_nibble(dst, b * 256 + at, pair_at(src + 16, at));
  }
}

void pack_q3_k(const uint8_t* src, int64_t blocks, uint8_t* dst, const PackedRow& row) {
  for (int64_t b = 0; b < blocks; ++b, src += 110) {
    const uint8_t* packed = src + 96;
    for (int s = 0; s < 16; ++s) {
      const int low = (packed[s % 8] >> (4 * (s / 8))) & 15, high = (packed[8 + s % 4] >> (2 * (s / 4))) & 3;
      dst[row.scales + b * 16 + s] = static_cast<uint8_t>((low | high << 4) - 32);
    }
    std::memcpy(dst + row.deltas + b * 2, src + 108, 2);
    for (int at = 0; at < 256; ++at)
      put_nibble(dst, b * 256 + at, pair_at(src + 32, at) | ((src[at % 32] >> (at / 32)) & 1) << 2);
  }
}

void pack_iq4_xs(const uint8_t* src, int64_t blocks, uint8_t* dst, const PackedRow& row) {
  for (int64_t b = 0; b < blocks; ++b, src += 136) {
    for (int s = 0; s < 8; ++s) {
      const int low = (src[4 + s / 2] >> (4 * (s % 2))) & 15, high = (src[2 + s / 4] >> (2 * (s % 4))) & 3;
      dst[row.scales + b * 8 + s] = static_cast<uint8_t>((low | high << 4) - 32);
    }
    std::memcpy(dst + row.deltas + b * 2, src, 2);
    for (int at = 0; at < 256; ++at) {
      const int byte = src[8 + at / 32 * 16 + at % 16];
      put_nibble(dst, b * 256 + at, at % 32 < 16 ? byte & 15 : byte >> 4);
    }
  }
}

void pack_q6_k(const uint8_t* src, int64_t blocks, uint8_t* dst, const PackedRow& row) {
  for (int64_t b = 0; b < blocks; ++b, src += 210) {
    std::memcpy(dst + row.scales + b * 16, src + 192, 16);
    std::memcpy(dst + row.deltas + b * 2, src + 208, 2);
    for (int at = 0; at < 256; ++at) {
      const int half = at / 128, g = at % 128 / 32, l = at % 32;
      put_nibble(dst, b * 256 + at, (src[64 * half + l + 32 * (g % 2)] >> (4 * (g / 2))) & 15);
      put_high(dst + row.high, b * 256 + at, (src[128 + 32 * half + l] >> (2 * g)) & 3);
    }
  }
}

void pack_row(const uint8_t* src, DType dtype, int64_t cols, uint8_t* dst, const PackedRow& row) {
  std::memset(dst, 0, static_cast<size_t>(row.stride));
  const int64_t blocks = cols / dtype_info(dtype).block_elements;
  switch (dtype) {
    case DType::q4_0:
    case DType::iq4_nl:
      return pack_q4(src, blocks, 2, dst, row);
    case DType::q4_1:
      return pack_q4(src, blocks, 4, dst, row);
    case DType::q8_0:
      return pack_q8_0(src, blocks, dst, row);
    case DType::q4_k:
      return pack_q4_k(src, blocks, dst, row);
    case DType::q6_k:
      return pack_q6_k(src, blocks, dst, row);
    case DType::q5_0:
      return pack_q5(src, blocks, 2, dst, row);
    case DType::q5_1:
      return pack_q5(src, blocks, 4, dst, row);
    case DType::q2_k:
      return pack_q2_k(src, blocks, dst, row);
    case DType::q3_k:
      return pack_q3_k(src, blocks, dst, row);
    case DType::q5_k:
      return pack_q5_k(src, blocks, dst, row);
    case DType::iq4_xs:
      return pack_iq4_xs(src, blocks, dst, row);
    case DType::mxfp4:
      return pack_q4(src, blocks, 1, dst, row);
    default:
      return;  // kept as stored
  }
}

int64_t stride_of(DType dtype, int64_t cols) {
  if (is_packed(dtype)) return packed_row(dtype, cols).stride;
  if (is_f8(dtype)) return 2 * cols;
  return static_cast<int64_t>(row_bytes(dtype, cols).value_or(0));
}

size_t packed_bytes(DType dtype, int64_t rows, int64_t cols) {
  return static_cast<size_t>(stride_of(dtype, cols)) * static_cast<size_t>(rows);
}

/// 8-bit floats as f16.
void widen_f8(const uint8_t* src, DType dtype, int64_t elements, uint8_t* dst) {
  for (int64_t i = 0; i < elements; ++i) {
    const float value = dtype == DType::f8_e4m3 ? float_from_f8_e4m3(src[i]) : float_from_f8_e5m2(src[i]);
    const uint16_t half = f16_from_float(value);
    std::memcpy(dst + 2 * i, &half, sizeof half);
  }
}

void pack(const void* stored, DType dtype, int64_t rows, int64_t cols, void* packed, ThreadTeam& team) {
  const size_t bytes = row_bytes(dtype, cols).value_or(0);
  const auto* src = static_cast<const uint8_t*>(stored);
  auto* dst = static_cast<uint8_t*>(packed);
  team.run(rows, 1, [&](ThreadTeam::Range chunk, int) {
    if (is_f8(dtype)) {
      return widen_f8(src + chunk.begin * cols, dtype, (chunk.end - chunk.begin) * cols,
                      dst + chunk.begin * cols * 2);
    }
    if (!is_packed(dtype)) {
      const size_t begin = static_cast<size_t>(chunk.begin) * bytes;
      std::memcpy(dst + begin, src + begin, static_cast<size_t>(chunk.end - chunk.begin) * bytes);
      return;
    }
    const PackedRow row = packed_row(dtype, cols);
    for (int64_t r = chunk.begin; r < chunk.end; ++r)
      pack_row(src + static_cast<size_t>(r) * bytes, dtype, cols, dst + r * row.stride, row);
  });
}

constexpr WeightPacking kLanes = {"CUDA lanes", packed_bytes, pack};

}  // namespace

const WeightPacking* linear_packing(const Linear::Problem& problem) {
  for (int s = 0; s < problem.segment_count; ++s) {
    const DType dtype = problem.segments[static_cast<size_t>(s)].weight;
    if (is_packed(dtype) || is_f8(dtype)) return &kLanes;
  }
  return nullptr;
}

Linear::Problem packed_form(Linear::Problem problem) {
  for (Linear::Segment& segment : problem.segments)
    if (is_f8(segment.weight)) segment.weight = DType::f16;
  return problem;
}

int64_t weight_stride(const Linear::Problem& problem, int segment) {
  return stride_of(problem.segments[static_cast<size_t>(segment)].weight, problem.cols);
}

}  // namespace orrery::kernels::cuda
