#include "kernels/take.h"

#include "kernels/lab/take_case.h"
#include "tests/kernels/row_testing.h"

namespace orrery::kernels {
namespace {

using lab::TakeCase;

TEST(Take, elements_of_every_type_and_size) {
  for (const DType dtype : {DType::f32, DType::bf16, DType::i8, DType::i64, DType::boolean})
    for (const DType index : {DType::i32, DType::i64})
      for (const int64_t inner : {1, 3, 16, 32, 130, 257})
        for (const int64_t places : {1, 33, 700}) {
          SCOPED_TRACE(std::string(name_of(dtype)) + " " + std::to_string(inner));
          testing::expect_rows_agree(TakeCase({dtype, index}, 3, {7}, inner, places), take_rows(),
                                     testing::kOneGuard);
        }
}

TEST(Take, several_dims_are_found_together) {
  for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{5, 4}, {3, 2, 6}, {2, 2, 2, 2, 2, 2}})
    testing::expect_rows_agree(TakeCase({DType::f32, DType::i64}, 1, sizes, 5, 90), take_rows());
}

TEST(Take, negative_numbers_count_from_the_end_and_others_outside_give_zero) {
  for (const Row<Take>& row : testing::all_rows(take_rows())) {
    ThreadTeam team(1);
    testing::GuardedPlace place(team, testing::placed(row, testing::Guard::after));
    Take::Args args{.problem = {DType::f32, DType::i32}, .outer = 1, .places = 6, .inner = 1, .depth = 1};
    args.sizes[0] = 3;
    args.src = place.put(std::vector<float>{10, 20, 30});
    args.indices = place.put(std::vector<int32_t>{0, 2, -1, -3, 3, -4});
    auto* dst = place.put(std::vector<float>(6, 1.0F));
    args.dst = dst;
    row.run(args, place.launch(nullptr));
    place.wait();
    EXPECT_EQ(place.get(dst, 6), (std::vector<float>{10, 30, 30, 10, 0, 0})) << row.name;
  }
}

TEST(Take, refuses_what_is_no_index) {
  for (const Row<Take>& row : testing::all_rows(take_rows())) {
    EXPECT_EQ(lab::refusal_of(row, {DType::f32, DType::f32}), "indices of f32; they must be of i32 or i64");
    EXPECT_NE(lab::refusal_of(row, {DType::q8_0, DType::i64}), "");
  }
}

}  // namespace
}  // namespace orrery::kernels
