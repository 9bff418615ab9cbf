#include "kernels/scatter.h"

#include "kernels/lab/scatter_case.h"
#include "tests/kernels/row_testing.h"

namespace orrery::kernels {
namespace {

using lab::ScatterCase;
using F = Scatter::Function;

TEST(Scatter, every_function_of_every_type) {
  for (const F function : {F::set, F::add, F::max, F::min, F::mul})
    for (const DType dtype : {DType::f32, DType::f16, DType::bf16, DType::i8, DType::i32, DType::i64,
                              DType::u8, DType::boolean}) {
      const Scatter::Problem asked{function, dtype, DType::i64};
      if (!ref::legal(asked).empty()) continue;
      SCOPED_TRACE(std::string(kScatterNames[static_cast<size_t>(function)]) + " " +
                   std::string(name_of(dtype)));
      for (const auto& [outer, inner] : {std::pair<int64_t, int64_t>{1, 1}, {40, 1}, {3, 70}})
        testing::expect_rows_agree(ScatterCase(asked, outer, 9, inner, 50), scatter_rows(),
                                   testing::kOneGuard);
    }
}

TEST(Scatter, few_long_lines) {
  for (const F function : {F::set, F::add, F::max, F::mul})
    for (const DType dtype : {DType::f32, DType::bf16, DType::i8, DType::i64})
      for (const auto& [outer, inner] : {std::pair<int64_t, int64_t>{1, 1}, {3, 1}, {2, 5}})
        for (const int64_t count : {1, 3, 4000}) {
          SCOPED_TRACE(std::string(kScatterNames[static_cast<size_t>(function)]) + " " +
                       std::string(name_of(dtype)) + " of " + std::to_string(count));
          testing::expect_rows_agree(ScatterCase({function, dtype, DType::i64}, outer, count, inner, 1001),
                                     scatter_rows(), testing::kOneGuard);
        }
}

TEST(Scatter, the_last_of_several_at_one_place_stays) {
  for (const Row<Scatter>& row : testing::all_rows(scatter_rows())) {
    ThreadTeam team(1);
    testing::GuardedPlace place(team, testing::placed(row, testing::Guard::after));
    Scatter::Args args{.problem = {F::set, DType::f32, DType::i32}, .lines = {.rank = 0}, .steps = 5};
    args.update_step = args.index_step = 1;
    args.sizes[0] = 3;
    args.strides[0] = 1;
    args.updates = place.put(std::vector<float>{1, 2, 3, 4, 5});
    args.indices = place.put(std::vector<int32_t>{0, 2, 0, -1, 3});
    auto* dst = place.put(std::vector<float>{7, 8, 9});
    args.dst = dst;
    row.run(args, place.launch(nullptr));
    place.wait();
    EXPECT_EQ(place.get(dst, 3), (std::vector<float>{3, 8, 4})) << row.name;
  }
}

TEST(Scatter, refuses_what_has_no_meaning) {
  for (const Row<Scatter>& row : testing::all_rows(scatter_rows())) {
    EXPECT_EQ(lab::refusal_of(row, {F::add, DType::boolean, DType::i64}), "bools are no numbers");
    EXPECT_EQ(lab::refusal_of(row, {F::set, DType::f32, DType::u8}),
              "indices of u8; they must be of i32 or i64");
  }
}

}  // namespace
}  // namespace orrery::kernels
