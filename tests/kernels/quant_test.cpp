// Block formats against the values and bytes of the gguf package (tests/data/quant), and float16/bfloat16
// rounding.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <sstream>
#include <vector>

#include "kernels/half.h"
#include "kernels/linear.h"

namespace orrery::kernels {
namespace {

std::vector<uint8_t> from_hex(const std::string& text) {
  std::vector<uint8_t> bytes;
  for (size_t i = 0; i + 1 < text.size(); i += 2) {
    bytes.push_back(static_cast<uint8_t>(std::stoi(text.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

std::vector<float> floats_of(const std::vector<uint8_t>& bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
  return values;
}

DType dtype_named(const std::string& name) {
  for (int i = 0; i <= static_cast<int>(kLastDType); ++i) {
    if (name_of(static_cast<DType>(i)) == name) return static_cast<DType>(i);
  }
  ADD_FAILURE() << "unknown format " << name;
  return DType::f32;
}

TEST(Quant, BlocksReadAndWrittenAsTheFieldDoes) {
  std::ifstream file(ORRERY_TEST_DATA "/quant/blocks.txt");
  ASSERT_TRUE(file) << "tests/data/quant/blocks.txt is missing";
  int lines = 0;
  for (std::string way, format, first, second; file >> way >> format >> first >> second; ++lines) {
    SCOPED_TRACE(way + " " + format);
    const DType dtype = dtype_named(format);
    const std::vector<uint8_t> source = from_hex(first);
    const std::vector<uint8_t> expected = from_hex(second);
    if (way == "read") {
      const std::vector<float> values = floats_of(expected);
      ASSERT_EQ(row_bytes(dtype, static_cast<int64_t>(values.size())), source.size());
      std::vector<float> actual(values.size());
      dequantise_row(dtype, source.data(), static_cast<int64_t>(actual.size()), actual.data());
      for (size_t i = 0; i < values.size(); ++i) {  // the package may round d * s first: one ulp
        if (std::isnan(values[i])) {
          ASSERT_TRUE(std::isnan(actual[i])) << "element " << i;
          continue;
        }
        if (actual[i] == values[i]) continue;  // infinities too
        ASSERT_NEAR(actual[i], values[i], 2e-7F * std::max(1.0F, std::fabs(values[i]))) << "element " << i;
      }
    } else {
      const std::vector<float> values = floats_of(source);
      std::vector<uint8_t> actual(expected.size());
      quantise_row(dtype, values.data(), static_cast<int64_t>(values.size()), actual.data());
      EXPECT_EQ(actual, expected);
    }
  }
  EXPECT_EQ(lines, 18);
}

// What is not finite makes its block NaN, so that it is seen; what is too small for a scale is zero.
TEST(Quant, OddBlocksOfQ8_0) {
  float source[96] = {};
  source[0] = INFINITY;
  source[32] = 1e-40F;
  source[64] = -254.0F, source[65] = 3.0F, source[66] = 1.0F;  // steps of 2, halves away from zero
  uint8_t stored[3 * 34];
  quantise_row(DType::q8_0, source, 96, stored);
  float back[96];
  dequantise_row(DType::q8_0, stored, 96, back);
  EXPECT_TRUE(std::isnan(back[0]));
  EXPECT_TRUE(std::isnan(back[31]));
  EXPECT_EQ(back[32], 0.0F);
  EXPECT_EQ(back[64], -254.0F);
  EXPECT_EQ(back[65], 4.0F);
  EXPECT_EQ(back[66], 2.0F);
}

TEST(Quant, EveryFloat16SurvivesTheRoundTrip) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    const float value = float_from_f16(half);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(float_from_f16(f16_from_float(value))));
      continue;
    }
    ASSERT_EQ(f16_from_float(value), half) << bits;
  }
  EXPECT_EQ(float_from_f16(0x3c00), 1.0F);
  EXPECT_EQ(float_from_f16(0x0001), 0x1p-24F);
  EXPECT_EQ(float_from_f16(0xfbff), -65504.0F);
}

TEST(Quant, HalvesRoundToNearestEven) {
  EXPECT_EQ(f16_from_float(1.0F + 0x1p-11F), 0x3c00);  // tie to even: down
  EXPECT_EQ(f16_from_float(1.0F + 0x3p-11F), 0x3c02);  // tie to even: up
  EXPECT_EQ(f16_from_float(1.0F + 0x1p-11F + 0x1p-20F), 0x3c01);
  EXPECT_EQ(f16_from_float(0x1p-25F), 0x0000);
  EXPECT_EQ(f16_from_float(0x1.8p-25F), 0x0001);
  EXPECT_EQ(f16_from_float(65519.0F), 0x7bff);
  EXPECT_EQ(f16_from_float(65520.0F), 0x7c00);
  EXPECT_EQ(bf16_from_float(1.0F + 0x1p-8F), 0x3f80);
  EXPECT_EQ(bf16_from_float(1.0F + 0x3p-8F), 0x3f82);
  EXPECT_TRUE(std::isnan(float_from_bf16(bf16_from_float(NAN))));
}

TEST(Quant, IntegersAreClampedAndNaNIsZero) {
  const float source[] = {-1000.0F, 126.6F, 0.5F, 1.5F, NAN};
  int8_t stored[5];
  quantise_row(DType::i8, source, 5, stored);
  EXPECT_EQ(stored[0], -128);
  EXPECT_EQ(stored[1], 127);
  EXPECT_EQ(stored[2], 0);
  EXPECT_EQ(stored[3], 2);
  EXPECT_EQ(stored[4], 0);
  float back[5];
  dequantise_row(DType::i8, stored, 5, back);
  EXPECT_EQ(back[0], -128.0F);
}

}  // namespace
}  // namespace orrery::kernels
