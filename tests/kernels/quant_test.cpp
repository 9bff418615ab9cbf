// Block formats against the values and bytes of the gguf package and the errors of llama.cpp's quantisers
// (tests/data/quant), and float16/bfloat16 rounding.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <sstream>
#include <vector>

#include "kernels/cpu/isa.h"
#include "kernels/cpu/isa/quantise_k.h"
#include "kernels/half.h"
#include "kernels/linear.h"
#include "kernels/quantise.h"

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
  EXPECT_EQ(lines, 20);
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

/// 64 rows of 1024, as make_errors.py describes them.
std::vector<float> rows_of(const std::string& kind) {
  uint32_t state = 1;
  const auto uniform = [&] { return static_cast<double>(state = 1664525 * state + 1013904223) / 0x1p32; };
  std::vector<float> rows(64 * 1024);
  for (float& x : rows) {
    double sum = 0;
    for (int i = 0; i < (kind == "shifted" ? 2 : 12); ++i) sum += uniform();
    const double bell = sum - 6;
    x = static_cast<float>(kind == "shifted" ? 0.03 * (sum - 1) + 0.02
                           : kind == "heavy" ? 0.03 * bell * bell * bell
                                             : 0.03 * bell);
  }
  return rows;
}

std::vector<float> stored_and_read(DType dtype, const std::vector<float>& row) {
  const auto cols = static_cast<int64_t>(row.size());
  std::vector<uint8_t> stored(row_bytes(dtype, cols).value());
  quantise_row(dtype, row.data(), cols, stored.data());
  std::vector<float> back(row.size());
  dequantise_row(dtype, stored.data(), cols, back.data());
  return back;
}

double relative_error(const std::vector<float>& x, const std::vector<float>& back) {
  double off = 0, all = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    off += std::pow(static_cast<double>(back[i]) - static_cast<double>(x[i]), 2);
    all += std::pow(static_cast<double>(x[i]), 2);
  }
  return off / all;
}

TEST(Quant, NoFormatIsFurtherOffThanTheFieldsOwnQuantiser) {
  std::ifstream file(ORRERY_TEST_DATA "/quant/errors.txt");
  ASSERT_TRUE(file) << "tests/data/quant/errors.txt is missing";
  int lines = 0;
  double theirs = 0;
  for (std::string format, kind; file >> format >> kind >> theirs; ++lines) {
    const DType dtype = dtype_named(format);
    const std::vector<float> x = rows_of(kind);
    const double ours = relative_error(x, stored_and_read(dtype, x));
    EXPECT_LE(ours, theirs * 1.00001) << format << " " << kind;  // six digits are in the file
    EXPECT_GE(ours, is_super_block(dtype) ? 0 : theirs * 0.99999) << format << " " << kind;
    RecordProperty(format + "_" + kind, std::to_string(ours / theirs));
  }
  EXPECT_EQ(lines, 30);
}

constexpr DType kBlockFormats[] = {DType::q4_0, DType::q4_1, DType::q5_0, DType::q5_1, DType::q8_0,
                                   DType::q2_k, DType::q3_k, DType::q4_k, DType::q5_k, DType::q6_k};

TEST(Quant, WhatIsReadBackIsStoredTheSameOrCloser) {
  const std::vector<float> x = rows_of("normal");
  for (const DType dtype : kBlockFormats) {
    const std::vector<float> once = stored_and_read(dtype, x);
    const double lost = relative_error(once, stored_and_read(dtype, once));
    EXPECT_LT(lost, 0.1 * relative_error(x, once)) << name_of(dtype);
  }
}

TEST(Quant, OddRows) {
  for (const DType dtype : kBlockFormats) {
    SCOPED_TRACE(name_of(dtype));
    const auto stored = [&](float first, float others) {
      std::vector<float> row(256, others);
      row[0] = first;
      return stored_and_read(dtype, row);
    };
    for (const float back : stored(0, 0)) EXPECT_EQ(back, 0.0F);
    for (const float constant : {0.75F, -0.75F})
      for (const float back : stored(constant, constant)) EXPECT_NEAR(back, constant, 0.75F * 0.01F);
    for (const float tiny : stored(1e-30F, -1e-30F)) EXPECT_EQ(tiny, 0.0F);
    for (const float large : stored(-2e4F, 2e4F)) EXPECT_NEAR(std::fabs(large), 2e4F, 2e4F * 0.15F);
    EXPECT_FALSE(std::isfinite(stored(3e38F, 0)[0]));
    EXPECT_TRUE(std::isnan(stored(NAN, 1)[0]));
    EXPECT_TRUE(std::isnan(stored(INFINITY, 1)[1]));
  }
}

TEST(Quant, TheBytesAreThoseOfEveryMachine) {
  if (!this_machine().cpu.features.has(kAvx2)) GTEST_SKIP() << "this machine has one form only";
  const std::vector<float> x = rows_of("heavy");
  const auto expect_equal = [&](auto format, int bytes) {
    std::vector<uint8_t> narrow(static_cast<size_t>(bytes)), wide(narrow.size());
    for (size_t at = 0; at < x.size(); at += 256) {
      (baseline::kQuantiseK.*format)(&x[at], narrow.data());
      (avx2::kQuantiseK.*format)(&x[at], wide.data());
      ASSERT_EQ(narrow, wide) << "block at " << at;
    }
  };
  expect_equal(&QuantiseKTable::q2_k, 84);
  expect_equal(&QuantiseKTable::q3_k, 110);
  expect_equal(&QuantiseKTable::q4_k, 144);
  expect_equal(&QuantiseKTable::q5_k, 176);
  expect_equal(&QuantiseKTable::q6_k, 210);
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
