#include "kernels/hann.h"

#include "kernels/lab/hann_case.h"
#include "tests/kernels/row_testing.h"

namespace orrery::kernels {
namespace {

using lab::HannCase;

TEST(Hann, rows_agree_with_the_reference) {
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16})
    for (const bool periodic : {false, true})
      for (const int64_t count : {1, 2, 3, 255, 256, 257, 400, 10'007})
        testing::expect_rows_agree(HannCase(dtype, count, periodic), hann_rows(), testing::kOneGuard);
}

TEST(Hann, begins_with_nothing_and_has_its_middle_at_one) {
  for (const Row<Hann>& row : testing::all_rows(hann_rows())) {
    const auto near = [&](int64_t count, bool periodic, const std::vector<float>& expected) {
      const auto values = testing::run(HannCase(DType::f32, count, periodic), row)[0].values;
      ASSERT_EQ(values.size(), expected.size());
      for (size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(values[i], expected[i], 1e-7) << row.name;
    };
    near(4, true, {0, 0.5F, 1, 0.5F});
    near(5, false, {0, 0.5F, 1, 0.5F, 0});
    near(1, true, {1});
    near(1, false, {1});
    near(2, false, {0, 0});
  }
}

TEST(Hann, refuses_what_is_no_float) {
  for (const Row<Hann>& row : testing::all_rows(hann_rows()))
    EXPECT_EQ(lab::refusal_of(row, {DType::i32}), "i32; it makes f32, f16 or bf16") << row.name;
}

}  // namespace
}  // namespace orrery::kernels
