#include "kernels/lab/inputs.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <random>

#include "kernels/half.h"
#include "kernels/linear.h"
#include "kernels/quantise.h"

namespace orrery::kernels::lab {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// Where the scales lie in blocks that are random bits (searching for them takes too long here), and what
/// they are for elements of deviation 1.
struct RandomScales {
  size_t d_at;
  float d;
  size_t m_at = 0;
  float m = 0.0F;  // 0: the format has none
};
std::optional<RandomScales> random_scales(DType dtype) {
  switch (dtype) {
    case DType::q4_k:
      return RandomScales{0, 1.0F / 250.0F, 2, 1.0F / 30.0F};  // d s q - m n: about 32 * 8 each
    case DType::q5_k:
      return RandomScales{0, 1.0F / 500.0F, 2, 1.0F / 30.0F};
    case DType::q6_k:
    case DType::q3_k:
      return RandomScales{dtype == DType::q6_k ? size_t{208} : 108,
                          dtype == DType::q6_k ? 1.0F / 1300.0F : 0.025F};
    case DType::q2_k:
      return RandomScales{80, 0.1F, 82, 0.1F};
    case DType::q5_0:
      return RandomScales{0, 0.1F};
    case DType::q5_1:
      return RandomScales{0, 0.1F, 2, -1.5F};
    case DType::iq4_nl:
      return RandomScales{0, 1.0F / 70.0F};
    case DType::iq4_xs:
      return RandomScales{0, 1.0F / 1300.0F};
    default:
      return std::nullopt;
  }
}

/// The exponent byte of 2^n with the given bias, at least 0, for elements of `deviation`.
int exponent_of(float deviation, int bias) { return std::max(0, std::ilogb(deviation) + bias); }

/// Random bits become a number of about `deviation`: sign and fraction stay, the exponent is one of three.
std::byte random_f8(uint32_t bits, DType dtype, float deviation) {
  const bool e4m3 = dtype == DType::f8_e4m3;
  const int exponent = std::max(0, exponent_of(deviation, e4m3 ? 7 : 15) - static_cast<int>(bits >> 8) % 3);
  const uint32_t kept = bits & (e4m3 ? 0x87U : 0x83U);
  return static_cast<std::byte>(kept | static_cast<uint32_t>(exponent) << (e4m3 ? 3 : 2));
}

/// The nearest e4m3, halves to even, at most 448.
std::byte to_e4m3(float value) {
  if (std::isnan(value)) return std::byte{0x7F};
  const uint32_t bits = bits_of_float(std::fabs(value) * 0x1p-120F);  // brings the exponent's bias to 7
  const uint32_t rounded = (bits + 0x7FFFFU + ((bits >> 20) & 1)) >> 20;
  return static_cast<std::byte>((std::signbit(value) ? 0x80U : 0U) | std::min(rounded, 0x7EU));
}

/// Random bits, with scales for elements of `deviation`.
void fill_blocks(std::vector<std::byte>& stored, DType dtype, float deviation, std::mt19937& engine) {
  const std::optional<RandomScales> scales = random_scales(dtype);
  for (std::byte& b : stored) b = static_cast<std::byte>(engine() & 255);
  const auto size = static_cast<size_t>(dtype_info(dtype).block_bytes);
  for (size_t at = 0; at < stored.size(); at += size) {
    if (!scales) {
      stored[at] =
          static_cast<std::byte>(exponent_of(deviation / 5.0F, 128) + static_cast<int>(engine() % 3) - 1);
      continue;
    }
    const auto put = [&](size_t offset, float value) {
      const uint16_t half = f16_from_float(value * deviation);
      std::memcpy(stored.data() + at + offset, &half, sizeof half);
    };
    const float jitter = 0.5F + static_cast<float>(engine() % 1000) / 1000.0F;
    put(scales->d_at, scales->d * jitter);
    if (scales->m != 0.0F) put(scales->m_at, scales->m * jitter);
  }
}

void break_some(std::vector<float>& values, std::mt19937& engine, Distribution distribution) {
  for (float& value : values) {
    const auto lot = engine() % 256;
    if (lot < 64) value = -kInfinity;
    if (distribution != Distribution::broken) continue;
    if (lot >= 252) value = std::nanf("");
    if (lot == 251) value = kInfinity;
  }
}

}  // namespace

std::vector<float> random_floats(size_t count, uint32_t seed, float scale, Distribution distribution) {
  std::mt19937 engine(seed);
  std::vector<float> values(count);
  if (distribution == Distribution::uniform) {
    std::uniform_real_distribution<float> uniform(-scale, scale);
    for (float& value : values) value = uniform(engine);
    return values;
  }
  if (distribution == Distribution::heavy) {
    std::student_t_distribution<float> heavy(3.0F);
    for (float& value : values) value = scale * heavy(engine);
    return values;
  }
  std::normal_distribution<float> normal(0.0F, scale);
  for (float& value : values) value = normal(engine);
  if (distribution != Distribution::normal) break_some(values, engine, distribution);
  return values;
}

std::vector<std::byte> random_elements(DType dtype, size_t count, uint32_t seed, Distribution distribution) {
  std::vector<float> values = random_floats(count, seed, 1.0F, distribution);
  std::mt19937 engine(seed);
  for (float& value : values)
    if (dtype == DType::boolean)
      value = static_cast<float>(engine() % 2);
    else if (is_integer(dtype))
      value = static_cast<float>(static_cast<int>(engine() % 65536) - 32768);
  std::vector<std::byte> elements(row_bytes(dtype, static_cast<int64_t>(count)).value_or(0));
  if (dtype == DType::f8_e4m3) {
    std::ranges::transform(values, elements.begin(), to_e4m3);
    return elements;
  }
  quantise_row(dtype, values.data(), static_cast<int64_t>(count), elements.data());
  return elements;
}

std::vector<float> as_floats(DType dtype, const std::vector<std::byte>& elements) {
  const DTypeInfo info = dtype_info(dtype);
  std::vector<float> values(elements.size() / static_cast<size_t>(info.block_bytes) *
                            static_cast<size_t>(info.block_elements));
  dequantise_row(dtype, elements.data(), static_cast<int64_t>(values.size()), values.data());
  return values;
}

std::vector<std::byte> random_weights(DType dtype, int64_t rows, int64_t cols, uint32_t seed,
                                      int64_t period) {
  const size_t bytes = row_bytes(dtype, cols).value_or(0);
  const int64_t unique = period > 0 ? std::min(rows, period) : rows;
  const float deviation = 1.0F / std::sqrt(static_cast<float>(cols));
  std::vector<std::byte> stored(bytes * static_cast<size_t>(unique));
  std::mt19937 engine(seed);
  if (is_f8(dtype)) {
    for (std::byte& b : stored) b = random_f8(engine(), dtype, deviation);
  } else if (random_scales(dtype) || dtype == DType::mxfp4) {
    fill_blocks(stored, dtype, deviation, engine);
  } else {
    const std::vector<float> values = random_floats(static_cast<size_t>(unique * cols), seed, deviation);
    for (int64_t r = 0; r < unique; ++r)
      quantise_row(dtype, values.data() + r * cols, cols, stored.data() + static_cast<size_t>(r) * bytes);
  }
  stored.resize(bytes * static_cast<size_t>(rows));
  const size_t first = bytes * static_cast<size_t>(unique);
  for (size_t at = first; at < stored.size(); at += first)
    std::memcpy(stored.data() + at, stored.data(), std::min(first, stored.size() - at));
  return stored;
}

std::vector<float> rounded_to_integers(const std::vector<float>& src, int64_t block, int largest) {
  std::vector<float> rounded(src.size());
  for (size_t at = 0; at < src.size(); at += static_cast<size_t>(block)) {
    float most = 0.0F;
    for (int64_t i = 0; i < block; ++i) most = std::max(most, std::fabs(src[at + static_cast<size_t>(i)]));
    const float d = most / static_cast<float>(largest);
    const float inverse = d > 0.0F ? 1.0F / d : 0.0F;
    for (size_t i = at; i < at + static_cast<size_t>(block); ++i)
      rounded[i] = d * std::nearbyint(src[i] * inverse);
  }
  return rounded;
}

std::vector<float> rounded_to_f16(const std::vector<float>& src, int64_t cols) {
  std::vector<float> rounded(src.size());
  for (size_t at = 0; at < src.size(); at += static_cast<size_t>(cols)) {
    float most = 0.0F;
    for (int64_t i = 0; i < cols; ++i) most = std::max(most, std::fabs(src[at + static_cast<size_t>(i)]));
    const int exponent = most > 0.0F ? std::clamp(13 - std::ilogb(most), -114, 126) : 0;
    for (size_t i = at; i < at + static_cast<size_t>(cols); ++i)
      rounded[i] = std::ldexp(float_from_f16(f16_from_float(std::ldexp(src[i], exponent))), -exponent);
  }
  return rounded;
}

std::vector<float> rounded_to_bf16(std::vector<float> src) {
  for (float& x : src) x = float_from_bf16(bf16_from_float(x));
  return src;
}

}  // namespace orrery::kernels::lab
