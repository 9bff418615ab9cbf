#include "kernels/mask.h"

#include <cmath>
#include <cstring>

#include "kernels/lab/mask_case.h"
#include "tests/kernels/row_testing.h"

namespace orrery::kernels {
namespace {

using lab::MaskCase;

MaskCase random_case(Mask::Function function, DType dtype, int64_t rows, int64_t cols) {
  return {{function, dtype}, rows, cols, lab::random_elements(dtype, static_cast<size_t>(rows * cols), 13)};
}

TEST(Mask, bands_of_every_width) {
  for (const DType dtype : {DType::f32, DType::bf16, DType::i64, DType::boolean})
    for (const auto& [rows, cols] : {std::pair<int64_t, int64_t>{1, 1}, {6, 9}, {9, 4}, {4, 300}})
      for (const int64_t lower : {-1, 0, 2, 100})
        for (const int64_t upper : {-1, 0, 3, 100})
          for (const bool exclude : {false, true}) {
            SCOPED_TRACE(std::string(name_of(dtype)) + " " + std::to_string(rows) + " x " +
                         std::to_string(cols));
            MaskCase c = random_case(Mask::Function::band, dtype, 3 * rows, cols);
            c.height = rows;
            c.lower = lower;
            c.upper = upper;
            c.exclude = exclude;
            testing::expect_rows_agree(c, mask_rows(), testing::kOneGuard);
            c.in_place = true;
            testing::expect_rows_agree(c, mask_rows(), testing::kOneGuard);
          }
}

TEST(Mask, dropout_of_odd_sizes) {
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16})
    for (const int64_t cols : testing::kOddSizes)
      for (const double p : {0.0, 0.3, 0.9}) {
        SCOPED_TRACE(std::string(name_of(dtype)) + " " + std::to_string(cols) + " " + std::to_string(p));
        MaskCase c = random_case(Mask::Function::dropout, dtype, 7, cols);
        c.dropout = Dropout(p, 0x123456789);
        testing::expect_rows_agree(c, mask_rows());
        c.in_place = true;
        testing::expect_rows_agree(c, mask_rows(), testing::kOneGuard);
      }
}

TEST(Mask, as_many_stay_as_p_says) {
  std::vector<float> ones(200 * 500, 1.0F);
  std::vector<std::byte> bytes(ones.size() * sizeof(float));
  std::memcpy(bytes.data(), ones.data(), bytes.size());
  MaskCase c({Mask::Function::dropout, DType::f32}, 200, 500, bytes);
  c.dropout = Dropout(0.25, 4);
  for (const Row<Mask>& row : testing::all_rows(mask_rows())) {
    const std::vector<float> dst = testing::run(c, row)[0].values;
    double stay = 0;
    for (const float x : dst) {
      EXPECT_TRUE(x == 0.0F || x == 1.0F / 0.75F);
      stay += x != 0.0F ? 1 : 0;
    }
    EXPECT_NEAR(stay / static_cast<double>(dst.size()), 0.75, 0.01) << row.name;
  }
}

TEST(Mask, refuses_what_it_cannot_scale) {
  for (const Row<Mask>& row : testing::all_rows(mask_rows())) {
    EXPECT_EQ(lab::refusal_of(row, {Mask::Function::dropout, DType::i32}), "i32; dropout takes floats")
        << row.name;
    EXPECT_EQ(lab::refusal_of(row, {Mask::Function::band, DType::i32}), "") << row.name;
    EXPECT_NE(lab::refusal_of(row, {Mask::Function::band, DType::q8_0}), "") << row.name;
  }
}

}  // namespace
}  // namespace orrery::kernels
