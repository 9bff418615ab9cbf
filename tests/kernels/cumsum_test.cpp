#include "kernels/cumsum.h"

#include <cstring>

#include "kernels/lab/cumsum_case.h"
#include "tests/kernels/row_testing.h"

namespace orrery::kernels {
namespace {

using lab::CumsumCase;

CumsumCase random_case(DType dtype, int64_t outer, int64_t count, int64_t inner) {
  return {dtype, outer, count, inner,
          lab::random_elements(dtype, static_cast<size_t>(outer * count * inner), 9)};
}

TEST(Cumsum, every_type_either_way) {
  for (const DType dtype :
       {DType::f32, DType::f16, DType::bf16, DType::i8, DType::i32, DType::i64, DType::u8})
    for (const int64_t count : {1, 31, 32, 33, 255, 256, 257, 1000})
      for (const auto& [outer, inner] : {std::pair<int64_t, int64_t>{5, 1}, {3, 7}, {2, 65}})
        for (const bool exclusive : {false, true})
          for (const bool reverse : {false, true}) {
            SCOPED_TRACE(std::string(name_of(dtype)) + " " + std::to_string(count) + " x " +
                         std::to_string(inner));
            CumsumCase c = random_case(dtype, outer, count, inner);
            c.exclusive = exclusive;
            c.reverse = reverse;
            testing::expect_rows_agree(c, cumsum_rows(), testing::kOneGuard);
          }
}

TEST(Cumsum, in_place) {
  for (const int64_t inner : {1, 5}) {
    CumsumCase c = random_case(DType::f32, 4, 700, inner);
    c.in_place = true;
    testing::expect_rows_agree(c, cumsum_rows(), testing::kOneGuard);
  }
}

TEST(Cumsum, of_ones_counts) {
  const std::vector<float> ones(5, 1.0F);
  std::vector<std::byte> bytes(ones.size() * sizeof(float));
  std::memcpy(bytes.data(), ones.data(), bytes.size());
  CumsumCase c(DType::f32, 1, 5, 1, bytes);
  for (const Row<Cumsum>& row : testing::all_rows(cumsum_rows())) {
    c.exclusive = c.reverse = false;
    EXPECT_EQ(testing::run(c, row)[0].values, (std::vector<float>{1, 2, 3, 4, 5})) << row.name;
    c.exclusive = c.reverse = true;
    EXPECT_EQ(testing::run(c, row)[0].values, (std::vector<float>{4, 3, 2, 1, 0})) << row.name;
  }
}

TEST(Cumsum, refuses_what_is_no_number) {
  for (const Row<Cumsum>& row : testing::all_rows(cumsum_rows())) {
    EXPECT_EQ(lab::refusal_of(row, {DType::boolean}), "bools are no numbers") << row.name;
    EXPECT_NE(lab::refusal_of(row, {DType::q8_0}), "") << row.name;
  }
}

}  // namespace
}  // namespace orrery::kernels
