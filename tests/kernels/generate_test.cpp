#include "kernels/generate.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "kernels/lab/generate_case.h"
#include "tests/kernels/row_testing.h"

namespace orrery::kernels {
namespace {

using lab::GenerateCase;
using Function = Generate::Function;

TEST(Generate, ranges_of_every_type) {
  for (const DType dtype :
       {DType::f32, DType::f16, DType::bf16, DType::i8, DType::i16, DType::i32, DType::i64, DType::u8})
    for (const int64_t count : {1, 3, 4, 255, 257, 4097, 9001}) {
      SCOPED_TRACE(std::string(name_of(dtype)) + " " + std::to_string(count));
      GenerateCase c({Function::range, dtype}, count);
      c.a = -3.5;
      c.b = 0.125;
      c.first = -7;
      c.stride = 3;
      testing::expect_rows_agree(c, generate_rows());
      c.b = -0.1;
      c.stride = -1;
      testing::expect_rows_agree(c, generate_rows(), testing::kOneGuard);
    }
}

TEST(Generate, random_numbers_of_every_float) {
  for (const Function function : {Function::uniform, Function::gaussian})
    for (const DType dtype : {DType::f32, DType::f16, DType::bf16})
      for (const int64_t count : {1, 2, 3, 5, 255, 4098, 100'001}) {
        SCOPED_TRACE(std::string(kGenerateNames[static_cast<size_t>(function)]) + " " +
                     std::string(name_of(dtype)) + " " + std::to_string(count));
        GenerateCase c({function, dtype}, count);
        c.a = -0.5;
        c.b = 2.25;
        c.seed = 0xfedcba9876543210;
        testing::expect_rows_agree(c, generate_rows());
      }
}

/// The bits of some, so that they are the same on every device and for any number of threads: FNV-1a over all
/// of them.
uint64_t hash_of(const std::vector<float>& values) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const float value : values) {
    hash ^= std::bit_cast<uint32_t>(value);
    hash *= 0x100000001b3;
  }
  return hash;
}

TEST(Generate, the_same_bits_everywhere) {
  const std::pair<Function, uint64_t> cases[] = {{Function::uniform, 1140847821721121270},
                                                 {Function::gaussian, 16188573694046799389U}};
  for (const auto& [function, hash] : cases) {
    GenerateCase c({function, DType::f32}, 50'000);
    c.a = 0.25;
    c.b = 3;
    c.seed = 17;
    for (const Row<Generate>& row : testing::fast_rows(generate_rows()))
      for (const int threads : {1, 2, 3})
        EXPECT_EQ(hash_of(testing::run(c, row, threads)[0].values), hash)
            << kGenerateNames[static_cast<size_t>(function)] << " " << row.name;
  }
}

struct Moments {
  double mean = 0, square = 0, fourth = 0;
};
Moments moments_of(const std::vector<float>& values) {
  Moments moments;
  for (const double x : values) {
    moments.mean += x;
    moments.square += x * x;
    moments.fourth += x * x * x * x;
  }
  const auto n = static_cast<double>(values.size());
  return {moments.mean / n, moments.square / n, moments.fourth / n};
}

TEST(Generate, their_moments_are_those_of_the_distribution) {
  for (const Row<Generate>& row : testing::all_rows(generate_rows())) {
    GenerateCase uniform({Function::uniform, DType::f32}, 400'000),
        gaussian({Function::gaussian, DType::f32}, 400'000);
    const std::vector<float> u = testing::run(uniform, row)[0].values;
    EXPECT_NEAR(moments_of(u).mean, 0.5, 0.003) << row.name;
    EXPECT_NEAR(moments_of(u).square, 1.0 / 3, 0.003) << row.name;
    EXPECT_GE(*std::min_element(u.begin(), u.end()), 0.0F);
    EXPECT_LT(*std::max_element(u.begin(), u.end()), 1.0F);
    const Moments z = moments_of(testing::run(gaussian, row)[0].values);
    EXPECT_NEAR(z.mean, 0, 0.008) << row.name;
    EXPECT_NEAR(z.square, 1, 0.012) << row.name;
    EXPECT_NEAR(z.fourth, 3, 0.1) << row.name;
  }
}

TEST(Generate, logarithms_and_turns_are_right_to_the_last_digits) {
  for (uint64_t i = 0; i < 200'000; ++i) {
    const auto w = static_cast<uint32_t>(i < 1000 ? i : i * 21'475);
    const double expected = std::log((w + 1.0) * 0x1p-32);
    ASSERT_NEAR(log_of_share(w), expected, 1e-15 * std::abs(expected)) << w;
    double cosine = 0, sine = 0;
    turned(w, cosine, sine);
    const double turn = 2 * 3.14159265358979323846 * (w * 0x1p-32);
    ASSERT_NEAR(cosine, std::cos(turn), 1e-15) << w;
    ASSERT_NEAR(sine, std::sin(turn), 1e-15) << w;
  }
  EXPECT_EQ(log_of_share(UINT32_MAX), 0.0);
}

TEST(Generate, refuses_what_it_cannot_draw) {
  for (const Row<Generate>& row : testing::all_rows(generate_rows())) {
    EXPECT_EQ(lab::refusal_of(row, {Function::uniform, DType::i32}), "i32; random numbers are floats")
        << row.name;
    EXPECT_EQ(lab::refusal_of(row, {Function::range, DType::boolean}), "bools are no numbers") << row.name;
    EXPECT_NE(lab::refusal_of(row, {Function::range, DType::q8_0}), "") << row.name;
  }
}

}  // namespace
}  // namespace orrery::kernels
