// What the linear*.cpp files offer, built once per ISA: plain structs and a table of functions that do one
// thread's share. The rows in cpu/linear_*.cpp split the work over the team and call these. All of them write
// plain sums (src * weight^T); `finish` then adds the bias and applies the epilogue in place.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/activation.h"
#include "kernels/dtype.h"

namespace orrery::kernels {

/// Rows [begin, end) of one weight matrix times all tokens: sum of row r, token t goes to dst[t * dst_stride
/// + r - begin].
struct DenseShare {
  DType weight;  // any but integers; what is neither f32, f16 nor bf16 is dequantised panel by panel into
                 // scratch
  const std::byte* matrix;
  size_t row_bytes;
  int64_t cols;
  const float* src;
  int64_t src_stride, tokens;
  float* dst;
  int64_t dst_stride;
  int64_t begin, end;
  float* scratch;  // kDensePanel * cols floats when the weight is quantised
  void (*dequantise)(DType dtype, const void* src, int64_t cols, float* dst);
};
constexpr int64_t kDensePanel = 16;

/// One token's activations as 16-bit numbers, symmetric, x = d (256 high + low), in original order: int8
/// alone costs SmolLM2 1 % of perplexity. Two int8 arrays, high and low, then
///   blocks of 32 (for formats in blocks of 32):  pairs (scale d, d * sum of the numbers) per block
///   blocks of 256 (for those in blocks of 256):  d per block, int16 sums per 16 and per 32 of high, then of
///   low
/// and for tiles the int32 sums of the numbers per 32 or 16, negated. Arrays and pairs are padded with zeros
/// to 128 columns. 8-bit numbers, x = d low, have one half, which is low.
constexpr float largest_activation(int halves) { return halves == 2 ? 127 * 256 + 127 : 127; }
struct ActivationLayout {
  size_t low, scales, sums16, sums16_low, sums32, sums32_low,
      negated;   // byte offsets in the record; high is at 0, of one half none
  size_t bytes;  // of one record
};

enum class ActivationBlock : uint8_t { b32, b256 };

static constexpr ActivationLayout activation_layout(ActivationBlock block, int64_t cols, int halves) {
  const auto align = [](size_t bytes) { return (bytes + 63) / 64 * 64; };
  const size_t padded = (static_cast<size_t>(cols) + 127) / 128 * 128;
  ActivationLayout layout{};
  const auto both = static_cast<size_t>(halves);
  layout.low = (both - 1) * padded;
  layout.scales = both * padded;
  if (block == ActivationBlock::b32) {
    layout.negated = align(layout.scales + padded / 32 * 2 * sizeof(float));
    layout.bytes = align(layout.negated + padded / 32 * sizeof(int32_t));
    return layout;
  }
  const size_t bytes16 = align(padded / 16 * sizeof(int16_t));
  const size_t bytes32 = align(padded / 32 * sizeof(int16_t));
  layout.sums16 = align(layout.scales + padded / 256 * sizeof(float) + sizeof(float));
  layout.sums16_low = layout.sums16 + (both - 1) * bytes16;
  layout.sums32 = layout.sums16_low + bytes16;
  layout.sums32_low = layout.sums32 + (both - 1) * bytes32;
  layout.negated = layout.sums32_low + bytes32;
  layout.bytes = align(layout.negated + padded / 16 * sizeof(int32_t));
  return layout;
}

static constexpr ActivationBlock activation_block(DType weight) {
  return dtype_info(weight).block_elements == 256 ? ActivationBlock::b256 : ActivationBlock::b32;
}

/// Rows [begin, end) of one quantised matrix times all tokens, from quantised activations; dst as in
/// DenseShare.
struct QuantShare {
  DType weight;
  const std::byte* matrix;
  size_t row_bytes;
  int64_t cols;
  const std::byte* activations;  // records of activation_layout(activation_block(weight), cols, halves)
  int halves;                    // 2; or 1, where there is VNNI
  int64_t tokens;
  float* dst;
  int64_t dst_stride;
  int64_t begin, end;
  std::byte* scratch;  // tiles only: tile_scratch_bytes(weight, cols)
};

/// Tiles: one unpacked panel of 32 weight rows. Bytes as u8 [cols / 4][32 rows][4], then float scales [cols /
/// sub][32] (sub: 32 columns, or 16) and the mins, see linear_tiles.cpp.
constexpr int64_t kTilePanel = 32;
static constexpr size_t tile_scratch_bytes(int64_t cols) {
  return static_cast<size_t>(cols) * kTilePanel +
         2 * static_cast<size_t>(cols / 16 + 16) * kTilePanel * sizeof(float);
}

/// dst = act(src + bias), or for gated functions act(src + bias) * (up + up_bias), on (tokens, count). Biases
/// may be null; dst may be src.
struct LinearFinish {
  Epilogue function;
  const float* src;
  int64_t src_stride;
  float* dst;  // where it is rounded, of bf16
  int64_t dst_stride;
  bool rounded;  // dst is stored as bf16
  const float* up;
  int64_t up_stride;
  const float* bias;
  const float* up_bias;
  int64_t tokens, count;
};

/// Rows of weights in tiles times all tokens, in bf16, finished block by block. Weights lie in slices of 32
/// rows, the last one filled up with zeros, and these in tiles of 32 columns by 16 rows:
/// [rows / 32][cols / 32][2][16 pairs of columns][16 rows][2].
struct TiledShare {
  const uint16_t* src;     // (tokens, cols) bf16
  int64_t src_stride;      // elements
  int64_t cols;            // a multiple of 32
  const uint16_t* weight;  // the slice of the share's first row
  const uint16_t* up;      // the same of the up matrix of a gated function, else null
  LinearFinish finish;     // of all tokens and rows of the share; src and up are those of a block
  void (*finish_block)(const LinearFinish& finish);
  float* scratch;  // kTiledScratch
};
constexpr int64_t kTiledSlice = 32, kTiledTokens = 32;  // rows and tokens of a block
constexpr int64_t kTiledScratch =
    2 * 2 * kTiledSlice * kTiledTokens;  // floats: two blocks, and their up halves

/// Null: the ISA has no instructions for it, or those of a smaller one suffice.
struct LinearTable {
  void (*finish)(const LinearFinish& finish);
  void (*dense)(const DenseShare& share);
  /// Rounds one token: d = max |x| / largest_activation(halves) per block, to nearest.
  void (*quantise)(ActivationBlock block, int halves, const float* src, int64_t cols, std::byte* record);
  void (*quant_rows)(const QuantShare& share);
  void (*quant_tiles)(const QuantShare& share);
  void (*to_bf16)(const float* src, int64_t n, uint16_t* dst);
};

namespace avx2 {
extern const LinearTable kLinear;
}
namespace avx2_vnni {
extern const LinearTable kLinear;
}
namespace avx512 {
extern const LinearTable kLinear;
}
namespace avx512_vnni {
extern const LinearTable kLinear;
}
namespace avx512_bf16 {
void linear_tiled(const TiledShare& share);
}
namespace amx_bf16 {
void linear_tiled(const TiledShare& share);
}

}  // namespace orrery::kernels
