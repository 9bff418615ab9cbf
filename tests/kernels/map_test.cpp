#include "kernels/map.h"

#include <cstring>
#include <limits>

#include "kernels/lab/map_case.h"
#include "tests/kernels/row_testing.h"

namespace orrery::kernels {
namespace {

using lab::Distribution;
using lab::MapCase;

constexpr DType kTypes[] = {DType::f32, DType::f16, DType::bf16, DType::i8,     DType::i16,
                            DType::i32, DType::i64, DType::u8,   DType::boolean};

Map::Problem problem(Map::Function function, DType dtype) {
  return {function, dtype, info_of(function).kind == Map::Kind::test ? DType::boolean : dtype};
}

template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

TEST(Map, every_function_of_every_type) {
  int seen = 0;
  for (const MapInfo& info : kMapFunctions)
    for (const DType dtype : kTypes) {
      const Map::Problem asked = problem(info.function, dtype);
      if (!ref::legal(asked).empty()) continue;
      ++seen;
      SCOPED_TRACE(std::string(info.name) + " " + std::string(name_of(dtype)));
      for (const size_t count : {1, 255, 257, 9001})
        testing::expect_rows_agree(MapCase(asked, lab::random_elements(dtype, count, 3)), map_rows());
    }
  EXPECT_EQ(seen, 3 * 24 + 5 * 3 + 1);  // floats, whole numbers, bools
}

TEST(Map, infinities_and_what_is_no_number) {
  for (const MapInfo& info : kMapFunctions)
    for (const DType dtype : {DType::f32, DType::f16}) {
      const Map::Problem asked = problem(info.function, dtype);
      if (!ref::legal(asked).empty()) continue;
      SCOPED_TRACE(info.name);
      testing::expect_rows_agree(MapCase(asked, lab::random_elements(dtype, 4096, 3, Distribution::broken)),
                                 map_rows());
    }
}

TEST(Map, values_far_from_one) {
  std::vector<float> values;
  for (float x = 1e-38F; x < 1e38F; x *= 1.7F) values.insert(values.end(), {x, -x});
  for (int i = -400; i <= 400; ++i) values.push_back(0.25F * static_cast<float>(i));
  values.insert(values.end(), {0.0F, -0.0F});
  for (const MapInfo& info : kMapFunctions) {
    const Map::Problem asked = problem(info.function, DType::f32);
    if (!ref::legal(asked).empty()) continue;
    SCOPED_TRACE(info.name);
    testing::expect_rows_agree(MapCase(asked, bytes_of(values)), map_rows());
  }
}

TEST(Map, halves_are_rounded_to_the_even_number) {
  const MapCase c(problem(Map::Function::round, DType::f32),
                  bytes_of<float>({-2.5F, -1.5F, -0.5F, 0.5F, 1.5F, 2.5F, 0.4999F}));
  for (const Row<Map>& row : testing::all_rows(map_rows()))
    EXPECT_EQ(testing::run(c, row)[0].values, (std::vector<float>{-2, -2, 0, 0, 2, 2, 0})) << row.name;
}

TEST(Map, whole_numbers_wrap) {
  const MapCase c(problem(Map::Function::abs, DType::i8), bytes_of<int8_t>({-128, -127, 5}));
  for (const Row<Map>& row : testing::all_rows(map_rows()))
    EXPECT_EQ(testing::run(c, row)[0].values, (std::vector<float>{-128, 127, 5})) << row.name;
}

TEST(Map, refuses_what_has_no_meaning) {
  for (const Row<Map>& row : testing::all_rows(map_rows())) {
    const auto refusal = [&](Map::Function function, DType dtype) {
      return lab::refusal_of(row, problem(function, dtype));
    };
    EXPECT_EQ(refusal(Map::Function::exp, DType::i32), "i32; it takes floats");
    EXPECT_EQ(refusal(Map::Function::is_nan, DType::i32), "i32; it takes floats");
    EXPECT_EQ(refusal(Map::Function::abs, DType::boolean), "bools are no numbers");
    EXPECT_EQ(refusal(Map::Function::bitwise_not, DType::f32), "f32; it takes whole numbers");
    EXPECT_EQ(refusal(Map::Function::logical_not, DType::u8), "u8; it takes bools");
    EXPECT_EQ(lab::refusal_of(row, {Map::Function::exp, DType::f32, DType::f16}), "its result is f32");
    EXPECT_NE(refusal(Map::Function::exp, DType::q8_0), "");
  }
}

}  // namespace
}  // namespace orrery::kernels
