#include "kernels/copy.h"

#include <cstring>
#include <limits>

#include "kernels/lab/copy_case.h"
#include "tests/kernels/row_testing.h"

namespace orrery::kernels {
namespace {

using lab::CopyCase;

constexpr DType kTypes[] = {DType::f32, DType::f16, DType::bf16, DType::i8,     DType::i16,
                            DType::i32, DType::i64, DType::u8,   DType::boolean};

using Sizes = std::vector<int64_t>;

/// Both without gaps.
Walk<2> packed(const Sizes& sizes) {
  Walk<2> walk{.rank = static_cast<int>(sizes.size())};
  std::copy(sizes.begin(), sizes.end(), walk.sizes);
  for (int64_t* strides : walk.strides) pack_strides(walk.rank, walk.sizes, strides);
  return walk;
}

TEST(Copy, casts_from_every_type_to_every_type) {
  for (const DType from : kTypes)
    for (const DType to : kTypes) {
      SCOPED_TRACE(std::string(name_of(from)) + " to " + std::string(name_of(to)));
      for (const int64_t count : {1, 7, 256, 257, 9000})
        testing::expect_rows_agree(CopyCase(from, to, packed({count})), copy_rows());
    }
}

TEST(Copy, takes_any_rank_to_six_in_any_order) {
  const Sizes sizes = {3, 1, 5, 2, 4, 7};
  for (int rank = 0; rank <= kMaxRank; ++rank)
    for (const DType dtype : {DType::f32, DType::i64, DType::u8, DType::bf16}) {
      SCOPED_TRACE(std::to_string(rank) + " dims of " + std::string(name_of(dtype)));
      Walk<2> walk = packed(Sizes(sizes.begin(), sizes.begin() + rank));
      testing::expect_rows_agree(CopyCase(dtype, dtype, walk), copy_rows());
      std::reverse(walk.sizes, walk.sizes + rank);
      std::reverse(walk.strides[0], walk.strides[0] + rank);
      pack_strides(rank, walk.sizes, walk.strides[1]);
      testing::expect_rows_agree(CopyCase(dtype, dtype, walk), copy_rows());
      testing::expect_rows_agree(CopyCase(dtype, DType::f32, walk), copy_rows());
    }
}

TEST(Copy, leaves_what_lies_between_alone) {
  Walk<2> walk = packed({33, 129});
  walk.strides[0][0] = 300;  // every second of a wider row
  walk.strides[0][1] = 2;
  walk.strides[1][0] = 131;  // into a wider row
  for (const DType dtype : kTypes) testing::expect_rows_agree(CopyCase(dtype, dtype, walk), copy_rows());
  walk.strides[1][1] = 3;
  walk.strides[1][0] = 400;
  for (const DType dtype : kTypes) testing::expect_rows_agree(CopyCase(dtype, dtype, walk), copy_rows());
}

TEST(Copy, transposes_large_matrices) {
  for (const auto& [rows, cols] : {std::pair<int64_t, int64_t>{513, 127}, {1, 4099}, {1021, 64}}) {
    Walk<2> walk = packed({cols, rows});
    walk.strides[0][0] = 1;
    walk.strides[0][1] = cols;
    testing::expect_rows_agree(CopyCase(DType::f32, DType::f32, walk), copy_rows());
  }
}

template <class To, class From>
std::vector<To> converted(const Row<Copy>& row, DType from, DType to, const std::vector<From>& values) {
  ThreadTeam team(1);
  testing::GuardedPlace place(team, testing::placed(row, testing::Guard::after));
  Copy::Args args{.from = from, .to = to, .walk = packed({static_cast<int64_t>(values.size())})};
  args.src = place.put(values);
  auto* dst = place.put(std::vector<To>(values.size()));
  args.dst = dst;
  row.run(args, place.launch(nullptr));
  place.wait();
  return place.get(dst, values.size());
}

TEST(Copy, converts_as_its_header_says) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const std::vector<float> floats = {-1.9F, 2.5F, 1e9F, -1e9F, std::nanf(""), kInfinity, -kInfinity, -0.0F};
  for (const Row<Copy>& row : testing::all_rows(copy_rows())) {
    SCOPED_TRACE(std::string(row.name));
    EXPECT_EQ((converted<int8_t>(row, DType::f32, DType::i8, floats)),
              (std::vector<int8_t>{-1, 2, 127, -128, 0, 127, -128, 0}));
    EXPECT_EQ((converted<uint8_t>(row, DType::f32, DType::u8, floats)),
              (std::vector<uint8_t>{0, 2, 255, 0, 0, 255, 0, 0}));
    EXPECT_EQ((converted<int64_t>(row, DType::f32, DType::i64, std::vector<float>{1e19F, -1e19F, 3.99F})),
              (std::vector<int64_t>{INT64_MAX, INT64_MIN, 3}));
    EXPECT_EQ((converted<int32_t>(row, DType::f32, DType::i32, std::vector<float>{3e9F, 16777217.0F})),
              (std::vector<int32_t>{INT32_MAX, 16777216}));
    EXPECT_EQ((converted<uint8_t>(row, DType::f32, DType::boolean, floats)),
              (std::vector<uint8_t>{1, 1, 1, 1, 1, 1, 1, 0}));
    const std::vector<int64_t> whole = {300, -1, INT64_MAX, (int64_t{1} << 40) + 3, 0};
    EXPECT_EQ((converted<int64_t>(row, DType::i64, DType::i64, whole)), whole);
    EXPECT_EQ((converted<int8_t>(row, DType::i64, DType::i8, whole)),
              (std::vector<int8_t>{44, -1, -1, 3, 0}));
    EXPECT_EQ((converted<int64_t>(row, DType::i32, DType::i64, std::vector<int32_t>{INT32_MIN, 7})),
              (std::vector<int64_t>{INT32_MIN, 7}));
    EXPECT_EQ((converted<uint8_t>(row, DType::i64, DType::boolean, whole)),
              (std::vector<uint8_t>{1, 1, 1, 1, 0}));
    EXPECT_EQ((converted<uint16_t>(row, DType::f32, DType::bf16, std::vector<float>{1.0F, 1.00390625F})),
              (std::vector<uint16_t>{0x3F80, 0x3F80}))
        << "to even";
  }
}

TEST(Copy, joins_dims_that_follow_one_another) {
  Walk<2> walk = packed({4, 1, 5, 6});
  EXPECT_EQ(collapsed(walk).rank, 1);
  EXPECT_EQ(collapsed(walk).sizes[0], 120);
  walk.strides[0][0] = 40;  // a gap after each 30
  EXPECT_EQ(collapsed(walk).rank, 2);
  EXPECT_EQ(collapsed(packed({})).elements(), 1);
}

TEST(Copy, refuses_blocks_and_seven_dims) {
  for (const Row<Copy>& row : testing::all_rows(copy_rows())) {
    EXPECT_EQ(lab::refusal_of(row, {DType::q4_0, DType::f32, 1}),
              "Q4_0 is how weights are stored, not elements");
    EXPECT_EQ(lab::refusal_of(row, {DType::f32, DType::f32, 7}), "7 dims; kernels walk 6");
  }
}

}  // namespace
}  // namespace orrery::kernels
