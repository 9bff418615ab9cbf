#include "kernels/recurrence.h"

#include "kernels/lab/recurrence_case.h"
#include "tests/kernels/row_testing.h"

namespace orrery::kernels {
namespace {

using lab::RecurrenceCase;

TEST(Recurrence, every_type_either_way) {
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16})
    for (const int64_t count : {1, 2, 7, 8, 9, 255, 256, 257, 1000})
      for (const auto& [outer, inner] : {std::pair<int64_t, int64_t>{5, 1}, {3, 7}, {2, 300}})
        for (const bool reverse : {false, true}) {
          SCOPED_TRACE(std::string(name_of(dtype)) + " " + std::to_string(count) + " x " +
                       std::to_string(inner));
          testing::expect_rows_agree(RecurrenceCase(dtype, outer, count, inner, reverse), recurrence_rows(),
                                     testing::kOneGuard);
        }
}

std::vector<float> line_of(const Row<Recurrence>& row, const std::vector<float>& factor,
                           const std::vector<float>& src, bool reverse) {
  ThreadTeam team(1);
  testing::GuardedPlace place(team, testing::placed(row, testing::Guard::after));
  const auto* factors = place.put(factor);
  const auto* given = place.put(src);
  auto* dst = place.put(std::vector<float>(src.size()));
  const auto count = static_cast<int64_t>(src.size());
  row.run({DType::f32, reverse, 1, count, 1, factors, given, dst},
          place.launch(lab::put_workspace(row, Recurrence::Problem{}, place)));
  place.wait();
  return place.get(dst, src.size());
}

// The first factor of a line counts for nothing, even where it is none; 0 begins anew.
TEST(Recurrence, goes_on_by_its_factors) {
  using Floats = std::vector<float>;
  const float nan = std::nanf("");
  for (const Row<Recurrence>& row : testing::all_rows(recurrence_rows())) {
    EXPECT_EQ(line_of(row, {nan, 2, 0, 0.5F}, {1, 3, 4, 8}, false), (Floats{1, 5, 4, 10})) << row.name;
    EXPECT_EQ(line_of(row, {2, 0, 0.5F, nan}, {1, 3, 4, 8}, true), (Floats{7, 3, 8, 8})) << row.name;
  }
}

TEST(Recurrence, the_same_bits_however_many_threads_there_are) {
  const RecurrenceCase c(DType::f32, 3, 200, 700);
  testing::each_fast_row(recurrence_rows(), c.problem, [&](const Row<Recurrence>& row) {
    const std::vector<lab::Output> once = testing::run(c, row, 1);
    for (const int threads : {2, 3}) EXPECT_EQ(testing::run(c, row, threads)[0].values, once[0].values);
  });
}

TEST(Recurrence, refuses_what_is_no_float) {
  for (const Row<Recurrence>& row : testing::all_rows(recurrence_rows()))
    EXPECT_EQ(lab::refusal_of(row, {DType::i32}), "i32; it takes f32, f16 or bf16") << row.name;
}

}  // namespace
}  // namespace orrery::kernels
