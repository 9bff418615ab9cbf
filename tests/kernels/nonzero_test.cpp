#include "kernels/nonzero.h"

#include <cmath>
#include <cstring>

#include "kernels/lab/nonzero_case.h"
#include "tests/kernels/row_testing.h"

namespace orrery::kernels {
namespace {

using lab::NonzeroCase;
using Function = Nonzero::Function;
using Sizes = std::vector<int64_t>;

template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

int64_t product(const Sizes& sizes) {
  int64_t product = 1;
  for (const int64_t size : sizes) product *= size;
  return product;
}

/// Small whole numbers, most of them 0, in any type.
std::vector<std::byte> sparse(DType dtype, size_t count) {
  std::vector<std::byte> elements = lab::random_elements(dtype, count, 15);
  const std::vector<std::byte> where = lab::random_elements(DType::boolean, 2 * count, 16);
  const auto bytes = static_cast<size_t>(dtype_info(dtype).block_bytes);
  for (size_t i = 0; i < count; ++i)
    if (where[2 * i] != std::byte{0} || where[2 * i + 1] != std::byte{0})
      std::memset(elements.data() + i * bytes, 0, bytes);
  return elements;
}

TEST(Nonzero, places_in_every_type_and_rank) {
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16, DType::i8, DType::i16, DType::i32,
                            DType::i64, DType::u8, DType::boolean})
    for (const Sizes& sizes : {Sizes{1}, {257}, {3, 5}, {70, 33}, {2, 3, 2, 2, 3, 5}, {5000, 3}}) {
      SCOPED_TRACE(std::string(name_of(dtype)) + " " + std::to_string(sizes.size()));
      const int64_t count = product(sizes);
      for (const int64_t capacity : {count, count / 8, int64_t{1}})
        testing::expect_rows_agree(NonzeroCase({Function::places, dtype, DType::i64}, sizes, capacity,
                                               sparse(dtype, static_cast<size_t>(count))),
                                   nonzero_rows(), testing::kOneGuard);
    }
}

TEST(Nonzero, values_are_put_in_their_order) {
  for (const DType dtype : {DType::f32, DType::bf16, DType::i64, DType::boolean})
    for (const int64_t count : {1, 31, 256, 1025, 9001})
      for (const int64_t values : {count, count / 4 + 1}) {
        SCOPED_TRACE(std::string(name_of(dtype)) + " " + std::to_string(count));
        const auto elements = [&](int64_t n, uint32_t seed) {
          return lab::random_elements(dtype, static_cast<size_t>(n), seed);
        };
        NonzeroCase c({Function::put, DType::boolean, dtype}, {count}, values,
                      lab::random_elements(DType::boolean, static_cast<size_t>(count), 15),
                      elements(count, 16), elements(values, 17));
        testing::expect_rows_agree(c, nonzero_rows());
        c.in_place = true;
        testing::expect_rows_agree(c, nonzero_rows(), testing::kOneGuard);
      }
}

TEST(Nonzero, minus_zero_is_zero_and_nan_is_not) {
  const NonzeroCase c({Function::places, DType::f32, DType::i64}, {2, 3}, 4,
                      bytes_of<float>({0.0F, -0.0F, NAN, 1e-45F, -INFINITY, 0.0F}));
  for (const Row<Nonzero>& row : testing::all_rows(nonzero_rows())) {
    const std::vector<lab::Output> made = testing::run(c, row);
    EXPECT_EQ(made[0].values, (std::vector<float>{0, 2, 1, 0, 1, 1, -1, -1})) << row.name;
    EXPECT_EQ(made[1].values, (std::vector<float>{3})) << row.name;
  }
}

TEST(Nonzero, refuses_masks_and_places_of_other_types) {
  for (const Row<Nonzero>& row : testing::all_rows(nonzero_rows())) {
    EXPECT_EQ(lab::refusal_of(row, {Function::put, DType::f32, DType::f32}), "f32; a mask is bool")
        << row.name;
    EXPECT_EQ(lab::refusal_of(row, {Function::places, DType::f32, DType::i32}), "places are i64") << row.name;
    EXPECT_NE(lab::refusal_of(row, {Function::places, DType::q8_0, DType::i64}), "") << row.name;
  }
}

}  // namespace
}  // namespace orrery::kernels
