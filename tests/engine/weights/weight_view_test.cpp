#include "engine/weights/weight_view.h"

#include <gmock/gmock.h>

#include <cstring>
#include <limits>

#include "engine/weights/weight_store.h"

namespace orrery::weights {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// "matrix" (6, 2): row r is 10 r, 10 r + 1.  "vector" (6): 0 to 5.  "part.0" and "part.1" (3, 2): its
/// halves.
class WeightViews : public ::testing::Test {
 protected:
  void SetUp() override {
    for (int row = 0; row < 6; ++row) {
      matrix_.insert(matrix_.end(), {10.0F * static_cast<float>(row), 10.0F * static_cast<float>(row) + 1});
      vector_.push_back(static_cast<float>(row));
    }
    auto file = std::make_shared<io::ModelFile>();
    file->tensors = {{"matrix", DType::f32, {6, 2}, std::as_bytes(std::span(matrix_))},
                     {"vector", DType::f32, {6}, std::as_bytes(std::span(vector_))},
                     {"part.0", DType::f32, {3, 2}, std::as_bytes(std::span(matrix_).first(6))},
                     {"part.1", DType::f32, {3, 2}, std::as_bytes(std::span(matrix_).last(6))},
                     {"part.2", DType::f32, {6}, std::as_bytes(std::span(vector_))}};
    for (size_t i = 0; i < file->tensors.size(); ++i) file->by_name[file->tensors[i].name] = i;
    store_ = std::make_unique<WeightStore>(file, nullptr);
  }

  std::vector<float> values(const WeightView& view) {
    const auto tensor = store_->tensor(view, team_);
    EXPECT_TRUE(tensor.ok()) << tensor.error().to_string();
    if (!tensor.ok()) return {};
    held_.push_back(*tensor);
    const auto* first = reinterpret_cast<const float*>((*tensor)->data.data());
    return {first, first + (*tensor)->data.size() / sizeof(float)};
  }

  std::string refusal(const WeightView& view) {
    const auto tensor = store_->tensor(view, team_);
    return tensor.ok() ? "" : tensor.error().to_string();
  }

  std::vector<float> matrix_, vector_;
  std::unique_ptr<WeightStore> store_;
  std::vector<WeightTensor> held_;
  kernels::ThreadTeam team_{2};
};

TEST_F(WeightViews, RowsThatFollowOneAnotherAreNoCopy) {
  EXPECT_THAT(values({"matrix", false, {2, 2}}), ElementsAre(20, 21, 30, 31));
  EXPECT_EQ((*store_->tensor({"matrix", false, {2, 2}}, team_))->shape, (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(store_->bytes({"matrix", false, {2, 2}}, nullptr, team_)->get(), &matrix_[4]);
  EXPECT_THAT(values({"vector", false, {4, 2}}), ElementsAre(4, 5));
  EXPECT_TRUE(store_->derived().empty());
}

TEST_F(WeightViews, RowsBetweenOthersAreOneCopy) {
  EXPECT_THAT(values({"matrix", false, {1, 1, 3, 2}}), ElementsAre(10, 11, 40, 41));
  EXPECT_THAT(values({"vector", false, {1, 2, 3, 2}}), ElementsAre(1, 2, 4, 5));
  values({"matrix", false, {1, 1, 3, 2}});
  ASSERT_EQ(store_->derived().size(), 2U);
  EXPECT_EQ(store_->derived()[0].bytes, 16U);
  EXPECT_EQ(store_->derived()[0].tensor, "matrix, 2 times 1 rows from 1, every 3");
}

TEST_F(WeightViews, ColumnsAreOneCopyOfTheRowsThatAreTaken) {
  WeightView columns("matrix", false, {1, 3});
  columns.columns = {1, 1};
  EXPECT_THAT(values(columns), ElementsAre(11, 21, 31));
  EXPECT_EQ((*store_->tensor(columns, team_))->shape, (std::vector<int64_t>{3, 1}));
  WeightView of_transpose("matrix", true, {});
  of_transpose.columns = {4, 2};
  EXPECT_THAT(values(of_transpose), ElementsAre(40, 50, 41, 51));
  columns.columns = {1, 2};
  EXPECT_THAT(refusal(columns), HasSubstr("The columns [1, 2] are asked of 2"));
  EXPECT_EQ(columns.name(), "matrix, 3 rows from 1, 2 columns from 1");
}

TEST_F(WeightViews, RowsOfTheTransposeShareItsCopy) {
  EXPECT_THAT(values({"matrix", true, {}}), ElementsAre(0, 10, 20, 30, 40, 50, 1, 11, 21, 31, 41, 51));
  EXPECT_THAT(values({"matrix", true, {1, 1}}), ElementsAre(1, 11, 21, 31, 41, 51));
  EXPECT_EQ((*store_->tensor({"matrix", true, {}}, team_))->shape, (std::vector<int64_t>{2, 6}));
  EXPECT_EQ(store_->derived().size(), 1U);
}

TEST_F(WeightViews, StackedTensorsLieSideBySide) {
  WeightView both("part.*");
  both.stacked = 2;
  EXPECT_EQ(values(both), matrix_);
  EXPECT_EQ((*store_->tensor(both, team_))->shape, (std::vector<int64_t>{2, 3, 2}));
  EXPECT_EQ(store_->bytes(both, nullptr, team_)->get(), (*store_->tensor(both, team_))->data.data());
  ASSERT_EQ(store_->derived().size(), 1U);
  EXPECT_EQ(store_->derived()[0].tensor, "part.*, 2 stacked");
  EXPECT_EQ(store_->derived()[0].bytes, 48U);
}

TEST_F(WeightViews, OnlyTensorsOfOneShapeAreStacked) {
  WeightView three("part.*"), five("part.*");
  three.stacked = 3;
  five.stacked = 5;
  EXPECT_THAT(refusal(three), HasSubstr("It is f32 [6], but part.0 is f32 [3, 2]"));
  EXPECT_THAT(refusal(five), HasSubstr("part.2"));
  WeightView none("nothing.*");
  none.stacked = 2;
  EXPECT_THAT(refusal(none), HasSubstr("no tensor \"nothing.0\""));
}

TEST_F(WeightViews, WhatATensorDoesNotHaveIsRefused) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  for (const std::vector<int64_t>& rows : {std::vector<int64_t>{5, 2},
                                           {-1, 2},
                                           {0, 0},
                                           {0},
                                           {0, 1, 2},
                                           {0, 1, 3, 3},
                                           {0, 2, 1, 2},
                                           {kMost, 1},
                                           {0, kMost},
                                           {0, 1, kMost, kMost}})
    EXPECT_THAT(refusal({"matrix", false, rows}), HasSubstr("are asked of 6")) << rows.front();
  EXPECT_THAT(refusal({"vector", true, {}}), HasSubstr("Only a matrix"));
}

TEST(Transpose, OfEveryElementSize) {
  for (const auto& [dtype, size] :
       {std::pair(DType::i8, 1), {DType::bf16, 2}, {DType::f32, 4}, {DType::i64, 8}}) {
    constexpr int64_t kRows = 37, kCols = 5;  // more rows than are transposed at a time
    std::vector<std::byte> src(static_cast<size_t>(kRows * kCols * size)), dst(src.size());
    for (size_t i = 0; i < src.size(); ++i) src[i] = static_cast<std::byte>(i * 7);
    transpose({"t", dtype, {kRows, kCols}, src}, dst.data());
    for (int64_t row = 0; row < kRows; ++row)
      for (int64_t col = 0; col < kCols; ++col)
        ASSERT_EQ(
            std::memcmp(&dst[static_cast<size_t>((col * kRows + row) * size)],
                        &src[static_cast<size_t>((row * kCols + col) * size)], static_cast<size_t>(size)),
            0);
  }
}

}  // namespace
}  // namespace orrery::weights
