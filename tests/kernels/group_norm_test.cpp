#include "kernels/group_norm.h"

#include <cmath>
#include <cstring>

#include "kernels/lab/group_norm_case.h"
#include "tests/kernels/row_testing.h"

namespace orrery::kernels {
namespace {

using lab::GroupNormCase;

GroupNormCase random_case(DType dtype, int64_t batch, int64_t channels, int64_t inner, int64_t groups) {
  return {dtype, batch,  channels,
          inner, groups, lab::random_elements(dtype, static_cast<size_t>(batch * channels * inner), 20)};
}

TEST(GroupNorm, every_float_and_odd_sizes) {
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16})
    for (const int64_t inner : {1, 7, 63, 257, 1300})
      for (const auto& [channels, groups] :
           {std::pair<int64_t, int64_t>{1, 1}, {6, 1}, {6, 3}, {6, 6}, {12, 4}})
        for (const bool scaled : {false, true}) {
          SCOPED_TRACE(std::string(name_of(dtype)) + " " + std::to_string(channels) + " in " +
                       std::to_string(groups) + " x " + std::to_string(inner));
          GroupNormCase c = random_case(dtype, 3, channels, inner, groups);
          c.scaled = scaled;
          testing::expect_rows_agree(c, group_norm_rows(), testing::kOneGuard);
          c.in_place = true;
          testing::expect_rows_agree(c, group_norm_rows(), testing::kOneGuard);
        }
}

TEST(GroupNorm, beside_guards_of_every_kind) {
  testing::expect_rows_agree(random_case(DType::f32, 2, 4, 33, 2), group_norm_rows());
  testing::expect_rows_agree(random_case(DType::bf16, 2, 4, 33, 2), group_norm_rows());
}

TEST(GroupNorm, a_mean_that_is_far_from_zero) {
  std::vector<float> values(4096);
  for (size_t i = 0; i < values.size(); ++i) values[i] = 10'000.0F + (i % 2 == 0 ? 1.0F : -1.0F);
  std::vector<std::byte> bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  GroupNormCase c(DType::f32, 1, 2, 2048, 1, bytes);
  c.scaled = false;
  for (const Row<GroupNorm>& row : testing::all_rows(group_norm_rows())) {
    const auto outputs = testing::run(c, row);
    for (const float x : outputs[0].values) ASSERT_NEAR(std::abs(x), 1 / std::sqrt(1.001), 1e-6) << row.name;
  }
}

TEST(GroupNorm, what_is_no_number_stays_in_its_group) {
  std::vector<float> values(32, 1.0F);
  values[3] = NAN;
  std::vector<std::byte> bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  const GroupNormCase c(DType::f32, 1, 4, 8, 2, bytes);
  for (const Row<GroupNorm>& row : testing::all_rows(group_norm_rows())) {
    const std::vector<float> dst = testing::run(c, row)[0].values;
    for (size_t i = 0; i < dst.size(); ++i) EXPECT_EQ(std::isnan(dst[i]), i < 16) << row.name << " " << i;
  }
}

TEST(GroupNorm, refuses_what_is_no_float) {
  for (const Row<GroupNorm>& row : testing::all_rows(group_norm_rows()))
    EXPECT_EQ(lab::refusal_of(row, {DType::i32}), "i32; it takes f32, f16 or bf16") << row.name;
}

}  // namespace
}  // namespace orrery::kernels
