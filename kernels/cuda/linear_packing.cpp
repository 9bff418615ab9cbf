// Packing for the CUDA rows of Linear: threads own rows; each byte of the packed form is written once or, in
// the planes of bits, starts as zero. linear_packing.h has the layout.
#include "kernels/cuda/linear_packing.h"

#include <cstring>

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

/// Q4_0 (head 2) and Q4_1 (head 4).
void pack_q4(const uint8_t* src, int64_t blocks, int head, uint8_t* dst, const PackedRow& row) {
  for (int64_t b = 0; b < blocks; ++b, src += head + 16) {
    std::memcpy(dst + row.scales + b * head, src, static_cast<size_t>(head));
    for (int j = 0; j < 16; ++j) {
      put_nibble(dst, b * 32 + j, src[head + j] & 15);
      put_nibble(dst, b * 32 + j + 16, src[head + j] >> 4);
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
      return pack_q4(src, blocks, 2, dst, row);
    case DType::q4_1:
      return pack_q4(src, blocks, 4, dst, row);
    case DType::q8_0:
      return pack_q8_0(src, blocks, dst, row);
    case DType::q4_k:
      return pack_q4_k(src, blocks, dst, row);
    case DType::q6_k:
      return pack_q6_k(src, blocks, dst, row);
    default:
      return;  // kept as stored
  }
}

int64_t stride_of(DType dtype, int64_t cols) {
  if (is_packed(dtype)) return packed_row(dtype, cols).stride;
  return static_cast<int64_t>(row_bytes(dtype, cols).value_or(0));
}

size_t packed_bytes(DType dtype, int64_t rows, int64_t cols) {
  return static_cast<size_t>(stride_of(dtype, cols)) * static_cast<size_t>(rows);
}

void pack(const void* stored, DType dtype, int64_t rows, int64_t cols, void* packed, ThreadTeam& team) {
  const size_t bytes = row_bytes(dtype, cols).value_or(0);
  const auto* src = static_cast<const uint8_t*>(stored);
  auto* dst = static_cast<uint8_t*>(packed);
  team.run([&](int thread) {
    const ThreadTeam::Range share = team.share(rows, thread);
    if (!is_packed(dtype)) {
      const size_t begin = static_cast<size_t>(share.begin) * bytes;
      if (share.begin < share.end)
        std::memcpy(dst + begin, src + begin, static_cast<size_t>(share.end - share.begin) * bytes);
      return;
    }
    const PackedRow row = packed_row(dtype, cols);
    for (int64_t r = share.begin; r < share.end; ++r)
      pack_row(src + static_cast<size_t>(r) * bytes, dtype, cols, dst + r * row.stride, row);
  });
}

constexpr WeightPacking kLanes = {"CUDA lanes", packed_bytes, pack};

}  // namespace

const WeightPacking* linear_packing(const Linear::Problem& problem) {
  for (int s = 0; s < problem.segment_count; ++s) {
    if (is_packed(problem.segments[static_cast<size_t>(s)].weight)) return &kLanes;
  }
  return nullptr;
}

int64_t weight_stride(const Linear::Problem& problem, int segment) {
  return stride_of(problem.segments[static_cast<size_t>(segment)].weight, problem.cols);
}

}  // namespace orrery::kernels::cuda
