// Float32 to the formats with blocks in blocks, by a search for small squared errors:
//   1. of each sub-block the best scale (and min), as real numbers (quantise_search.h)
//   2. d and m, whose multiples by whole numbers they are; then of the numbers around, those of the least
//      error
//   3. d and m once more, as those numbers and their codes would have them; kept where the error is smaller
//   layout: 256 elements in, one stored block out (ref/quant_blocks.h)
//   one order of every sum and no contraction to fma (CMakeLists.txt), so that the bytes are the same on
//   every
//     machine
//   requires: finite elements whose squares are finite
#include "kernels/cpu/isa/quantise_k.h"

#include "kernels/cpu/isa/quantise_search.h"
#include "kernels/half.h"

namespace orrery::kernels::ORRERY_ISA {
namespace {

constexpr int kElements = 256;

/// A format, but for where its bytes lie.
struct Format {
  Range codes, scales;
  bool has_min;
  Search search;
};
constexpr Format kQ2K{{0, 3}, {0, 15}, true, {6, -0.6F, 0.3F, 1}};
constexpr Format kQ3K{{-4, 3}, {-32, 31}, false, {5, -0.5F, 0.25F, 2}};
constexpr Format kQ4K{{0, 15}, {0, 63}, true, {6, -0.9F, 0.3F, 1}};
constexpr Format kQ5K{{0, 31}, {0, 63}, true, {6, -0.9F, 0.3F, 1}};
constexpr Format kQ6K{{-32, 31}, {-128, 127}, false, {5, -1.0F, 0.3F, 1}};

/// Element j of sub-block b is x[b / kSideBySide][j][b % kSideBySide].
template <int kEach>
struct SubBlocks {
  static constexpr int kBlocks = kElements / kEach, kGroups = kBlocks / kSideBySide;
  Lanes x[kGroups][kEach];

  explicit SubBlocks(const float* src) {
    for (int b = 0; b < kBlocks; ++b)
      for (int j = 0; j < kEach; ++j) x[b / kSideBySide][j][b % kSideBySide] = src[b * kEach + j];
  }
};

/// Block after block, whatever the width.
template <int kGroups>
float sum_of(const Lanes (&values)[kGroups]) {
  float sum = 0.0F;
  for (int g = 0; g < kGroups; ++g)
    for (int lane = 0; lane < kSideBySide; ++lane) sum += values[g][lane];
  return sum;
}

float rounded_to_f16(float x) { return float_from_f16(f16_from_float(x)); }
float inverse_of_one(float x) { return x < 0x1p-126F && x > -0x1p-126F ? 0.0F : 1.0F / x; }

/// scale = d * scales[g], min = m * mins[g]: d and m are float16 numbers, the rest whole ones.
template <int kGroups>
struct Multiples {
  float d = 0.0F, m = 0.0F;
  Lanes scales[kGroups]{}, mins[kGroups]{}, errors[kGroups]{};
};

/// Squared error with the nearest codes.
template <int kEach>
Lanes error_of(const Lanes* x, Lanes scale, Lanes min, Range codes) {
  const Lanes inverse = inverse_of(scale);
  Lanes error{};
  for (int j = 0; j < kEach; ++j) {
    const Lanes off = scale * code_of(x[j], min, inverse, codes) - min - x[j];
    error += off * off;
  }
  return error;
}

template <int kEach>
class Block {
 public:
  static constexpr int kGroups = SubBlocks<kEach>::kGroups;

  Block(const float* src, const Format& format) : x_(src), format_(format) {
    for (int g = 0; g < kGroups; ++g)
      wanted_[g] = format.has_min ? search_scale_min<kEach>(x_.x[g], format.codes, format.search)
                                  : search_scale<kEach>(x_.x[g], format.codes, format.search);
    start();
    choose_numbers(made_);
    Multiples<kGroups> again = made_;
    refit(again);
    choose_numbers(again);
    if (sum_of(again.errors) < sum_of(made_.errors)) made_ = again;
  }

  float d() const { return made_.d; }
  float m() const { return made_.m; }
  int scale(int b) const { return static_cast<int>(made_.scales[b / kSideBySide][b % kSideBySide]); }
  int min(int b) const { return static_cast<int>(made_.mins[b / kSideBySide][b % kSideBySide]); }
  void codes(int8_t* dst) const {
    for (int g = 0; g < kGroups; ++g) {
      const ScaleMin scales = scales_of(made_, g);
      const Lanes inverse = inverse_of(scales.scale);
      for (int j = 0; j < kEach; ++j) {
        const Lanes q = code_of(x_.x[g][j], scales.min, inverse, format_.codes);
        for (int lane = 0; lane < kSideBySide; ++lane)
          dst[(g * kSideBySide + lane) * kEach + j] = static_cast<int8_t>(q[lane]);
      }
    }
  }

 private:
  static ScaleMin scales_of(const Multiples<kGroups>& made, int g) {
    return {made.d * made.scales[g], made.m * made.mins[g]};
  }

  /// d and m such that the largest scale and min are the largest numbers.
  void start() {
    float scale = 0.0F, min = 0.0F;
    for (int g = 0; g < kGroups; ++g)
      for (int lane = 0; lane < kSideBySide; ++lane) {
        const float s = wanted_[g].scale[lane], n = wanted_[g].min[lane];
        if (s * s > scale * scale) scale = s;
        if (n > min) min = n;
      }
    made_.d = rounded_to_f16(scale / (format_.has_min ? format_.scales.high : format_.scales.low));
    made_.m = rounded_to_f16(min / format_.scales.high);
  }

  void offer(Multiples<kGroups>& made, int g, Lanes scale, Lanes min) const {
    scale = clamped(scale, format_.scales.low, format_.scales.high);
    min = clamped(min, 0.0F, format_.scales.high);
    const Lanes error = error_of<kEach>(x_.x[g], made.d * scale, made.m * min, format_.codes);
    const LaneMask better = error < made.errors[g];
    made.scales[g] = better ? scale : made.scales[g];
    made.mins[g] = better ? min : made.mins[g];
    made.errors[g] = better ? error : made.errors[g];
  }

  /// Those of the least error among the nearest and their neighbours.
  void choose_numbers(Multiples<kGroups>& made) const {
    const float inverse_d = inverse_of_one(made.d), inverse_m = inverse_of_one(made.m);
    const int neighbours = format_.has_min ? 1 : 0;
    for (int g = 0; g < kGroups; ++g) {
      const Lanes scale = nearest(clamped(wanted_[g].scale * inverse_d, -128.0F, 127.0F));
      const Lanes min = nearest(clamped(wanted_[g].min * inverse_m, 0.0F, 127.0F));
      made.scales[g] = made.mins[g] = Lanes{};
      made.errors[g] = error_of<kEach>(x_.x[g], Lanes{}, Lanes{}, format_.codes);
      for (int i = -1; i <= 1; ++i)
        for (int k = -neighbours; k <= neighbours; ++k)
          offer(made, g, scale + static_cast<float>(i), min + static_cast<float>(k));
    }
  }

  /// The regression over all elements of the block, the numbers and codes being given.
  void refit(Multiples<kGroups>& made) const {
    Lanes ss[kGroups], sn[kGroups], nn[kGroups], sx[kGroups], nx[kGroups];
    for (int g = 0; g < kGroups; ++g) {
      const ScaleMin scales = scales_of(made, g);
      const Lanes inverse = inverse_of(scales.scale);
      Lanes q1{}, q2{}, qx{}, x1{};
      for (int j = 0; j < kEach; ++j) {
        const Lanes x = x_.x[g][j], q = code_of(x, scales.min, inverse, format_.codes);
        q1 += q;
        q2 += q * q;
        qx += q * x;
        x1 += x;
      }
      const Lanes s = made.scales[g], n = made.mins[g];
      ss[g] = s * s * q2;
      sn[g] = s * n * q1;
      nn[g] = n * n * static_cast<float>(kEach);
      sx[g] = s * qx;
      nx[g] = n * x1;
    }
    const double a = sum_of(ss), b = sum_of(sn), c = sum_of(nn), p = sum_of(sx), r = sum_of(nx);
    const double det = a * c - b * b;
    const bool both = det > 1e-9 * a * c;
    double d = both ? (p * c - r * b) / det : made.d, m = both ? (p * b - r * a) / det : made.m;
    if (a > 0 && (c <= 0 || m < 0)) d = p / a, m = 0;
    made.d = rounded_to_f16(static_cast<float>(d));
    made.m = rounded_to_f16(static_cast<float>(m));
  }

  SubBlocks<kEach> x_;
  const Format& format_;
  ScaleMin wanted_[kGroups];
  Multiples<kGroups> made_;
};

void store_f16(float value, uint8_t* dst) {
  const uint16_t half = f16_from_float(value);
  dst[0] = static_cast<uint8_t>(half & 255);
  dst[1] = static_cast<uint8_t>(half >> 8);
}

void clear(uint8_t* dst, int bytes) {
  for (int i = 0; i < bytes; ++i) dst[i] = 0;
}

void add_bits(uint8_t& byte, int bits) { byte = static_cast<uint8_t>(byte | bits); }

/// Two bits of each of 256 codes: four groups of 32 to a half's 32 bytes.
void store_pairs(const int8_t* codes, int above, uint8_t* dst) {
  for (int at = 0; at < kElements; ++at)
    add_bits(dst[at / 128 * 32 + at % 32], ((codes[at] + above) & 3) << (at % 128 / 32 * 2));
}

/// 6-bit scales and mins: the first four in the low 6 bits of bytes b and b + 4, the others split.
void store_scales_mins(const Block<32>& block, uint8_t* dst) {
  for (int b = 0; b < 8; ++b) {
    const int scale = block.scale(b), min = block.min(b);
    if (b < 4) {
      add_bits(dst[b], scale);
      add_bits(dst[b + 4], min);
    } else {
      add_bits(dst[b + 4], (scale & 15) | (min & 15) << 4);
      add_bits(dst[b - 4], (scale >> 4) << 6);
      add_bits(dst[b], (min >> 4) << 6);
    }
  }
}

/// Bytes 32c .. 32c + 31 hold sub-block 2c in the low and 2c + 1 in the high nibbles.
void store_nibbles(const int8_t* codes, uint8_t* dst) {
  for (int at = 0; at < kElements; ++at)
    add_bits(dst[at / 64 * 32 + at % 32], (codes[at] & 15) << (at % 64 / 32 * 4));
}

void quantise_q2_k(const float* src, uint8_t* block) {
  const Block<16> made(src, kQ2K);
  int8_t codes[kElements];
  made.codes(codes);
  clear(block, 84);
  for (int b = 0; b < 16; ++b) add_bits(block[b], made.scale(b) | made.min(b) << 4);
  store_pairs(codes, 0, block + 16);
  store_f16(made.d(), block + 80);
  store_f16(made.m(), block + 82);
}

void quantise_q3_k(const float* src, uint8_t* block) {
  const Block<16> made(src, kQ3K);
  int8_t codes[kElements];
  made.codes(codes);
  clear(block, 110);
  for (int at = 0; at < kElements; ++at) add_bits(block[at % 32], ((codes[at] + 4) >> 2) << (at / 32));
  store_pairs(codes, 4, block + 32);
  for (int b = 0; b < 16; ++b) {
    const int scale = made.scale(b) + 32;
    add_bits(block[96 + b % 8], (scale & 15) << (4 * (b / 8)));
    add_bits(block[96 + 8 + b % 4], (scale >> 4) << (2 * (b / 4)));
  }
  store_f16(made.d(), block + 108);
}

void quantise_q4_k(const float* src, uint8_t* block) {
  const Block<32> made(src, kQ4K);
  int8_t codes[kElements];
  made.codes(codes);
  clear(block, 144);
  store_f16(made.d(), block);
  store_f16(made.m(), block + 2);
  store_scales_mins(made, block + 4);
  store_nibbles(codes, block + 16);
}

void quantise_q5_k(const float* src, uint8_t* block) {
  const Block<32> made(src, kQ5K);
  int8_t codes[kElements];
  made.codes(codes);
  clear(block, 176);
  store_f16(made.d(), block);
  store_f16(made.m(), block + 2);
  store_scales_mins(made, block + 4);
  for (int at = 0; at < kElements; ++at) add_bits(block[16 + at % 32], (codes[at] >> 4) << (at / 32));
  store_nibbles(codes, block + 48);
}

void quantise_q6_k(const float* src, uint8_t* block) {
  const Block<16> made(src, kQ6K);
  int8_t codes[kElements];
  made.codes(codes);
  clear(block, 210);
  for (int at = 0; at < kElements; ++at) {
    const int half = at / 128, group = at % 128 / 32, l = at % 32, q = codes[at] + 32;
    add_bits(block[64 * half + l + 32 * (group % 2)], (q & 15) << (4 * (group / 2)));
    add_bits(block[128 + 32 * half + l], (q >> 4) << (2 * group));
  }
  for (int b = 0; b < 16; ++b) block[192 + b] = static_cast<uint8_t>(made.scale(b));
  store_f16(made.d(), block + 208);
}

}  // namespace

const QuantiseKTable kQuantiseK = {quantise_q2_k, quantise_q3_k, quantise_q4_k, quantise_q5_k, quantise_q6_k};

}  // namespace orrery::kernels::ORRERY_ISA
