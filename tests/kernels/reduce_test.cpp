#include "kernels/reduce.h"

#include <cmath>
#include <cstring>

#include "kernels/lab/reduce_case.h"
#include "tests/kernels/row_testing.h"

namespace orrery::kernels {
namespace {

using lab::Distribution;
using lab::ReduceCase;
using F = Reduce::Function;

constexpr F kAll[] = {F::sum, F::mean, F::prod, F::max, F::min, F::argmax, F::argmin};

Reduce::Problem problem(F function, DType dtype) {
  return {function, dtype, gives_place(function) ? DType::i64 : dtype};
}

ReduceCase random_case(F function, DType dtype, int64_t outer, int64_t count, int64_t inner,
                       Distribution inputs = Distribution::normal) {
  return {problem(function, dtype), outer, count, inner,
          lab::random_elements(dtype, static_cast<size_t>(outer * count * inner), 9, inputs)};
}

ReduceCase row_of(F function, const std::vector<float>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return {problem(function, DType::f32), 1, static_cast<int64_t>(values.size()), 1, bytes};
}

TEST(Reduce, every_function_of_every_type) {
  for (const F function : kAll)
    for (const DType dtype :
         {DType::f32, DType::f16, DType::bf16, DType::i8, DType::i32, DType::i64, DType::u8}) {
      if (!ref::legal(problem(function, dtype)).empty()) continue;
      SCOPED_TRACE(std::string(kReduceNames[static_cast<size_t>(function)]) + " " +
                   std::string(name_of(dtype)));
      for (const int64_t count : {1, 7, 31, 33, 257, 1025})
        for (const auto& [outer, inner] : {std::pair<int64_t, int64_t>{13, 1}, {3, 7}, {2, 65}})
          testing::expect_rows_agree(random_case(function, dtype, outer, count, inner), reduce_rows(),
                                     testing::kOneGuard);
    }
}

TEST(Reduce, long_rows_and_columns) {
  for (const F function : {F::sum, F::mean, F::max, F::argmin})
    for (const auto& [count, inner] : {std::pair<int64_t, int64_t>{200'003, 1}, {20'011, 3}})
      testing::expect_rows_agree(random_case(function, DType::f32, 1, count, inner, Distribution::heavy),
                                 reduce_rows(), testing::kOneGuard);
}

TEST(Reduce, infinities_and_what_is_no_number) {
  for (const F function : kAll)
    for (const int64_t inner : {1, 9})
      testing::expect_rows_agree(random_case(function, DType::f32, 40, 77, inner, Distribution::broken),
                                 reduce_rows());
}

TEST(Reduce, the_first_of_equal_ones_and_the_first_nan) {
  const auto place = [](const Row<Reduce>& row, F function, const std::vector<float>& values) {
    return testing::run(row_of(function, values), row)[0].values;
  };
  for (const Row<Reduce>& row : testing::all_rows(reduce_rows())) {
    SCOPED_TRACE(row.name);
    std::vector<float> alike(300, 2.5F);
    EXPECT_EQ(place(row, F::argmax, alike), std::vector<float>{0});
    EXPECT_EQ(place(row, F::argmin, alike), std::vector<float>{0});
    alike[123] = alike[290] = 3.0F;
    EXPECT_EQ(place(row, F::argmax, alike), std::vector<float>{123});
    alike[200] = alike[201] = NAN;
    EXPECT_EQ(place(row, F::argmax, alike), std::vector<float>{200});
    EXPECT_EQ(place(row, F::argmin, alike), std::vector<float>{200});
    EXPECT_TRUE(std::isnan(place(row, F::max, alike)[0]));
    EXPECT_TRUE(std::isnan(place(row, F::min, alike)[0]));
  }
}

TEST(Reduce, sums_lose_nothing_that_float32_could_hold) {
  std::vector<float> values(100'001, 1e-3F);
  values[0] = 1e8F;  // a sum of float32 would stay there
  values.push_back(-1e8F);
  for (const Row<Reduce>& row : testing::all_rows(reduce_rows()))
    EXPECT_NEAR(testing::run(row_of(F::sum, values), row)[0].values[0], 100.0F, 1e-3F) << row.name;
}

TEST(Reduce, refuses_what_has_no_meaning) {
  for (const Row<Reduce>& row : testing::all_rows(reduce_rows())) {
    EXPECT_EQ(lab::refusal_of(row, problem(F::mean, DType::i32)), "i32; a mean takes floats");
    EXPECT_EQ(lab::refusal_of(row, problem(F::sum, DType::boolean)), "bools are no numbers");
    EXPECT_EQ(lab::refusal_of(row, {F::argmax, DType::f32, DType::f32}), "its result is i64");
    EXPECT_NE(lab::refusal_of(row, problem(F::sum, DType::q8_0)), "");
  }
}

}  // namespace
}  // namespace orrery::kernels
