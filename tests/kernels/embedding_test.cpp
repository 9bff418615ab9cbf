#include "kernels/embedding.h"

#include "kernels/linear.h"
#include "tests/kernels/linear_testing.h"

namespace orrery::kernels {
namespace {

using testing::Guard;
using testing::Guarded;

constexpr int64_t kVocabulary = 50;

std::vector<std::byte> stored_table(DType dtype, int64_t cols) {
  return testing::random_weights(dtype, kVocabulary, cols, 3);
}

std::vector<float> run(const Row<Embedding>& row, DType dtype, int64_t cols, float scale,
                       Guard guard = Guard::after) {
  guard = testing::placed(row, guard);
  const Guarded<std::byte> table(stored_table(dtype, cols), guard);
  std::vector<int32_t> wanted = {0, 49, 7, -1, 50, 7};
  for (int32_t i = 0; i < 40; ++i) wanted.push_back(i);
  const Guarded<int32_t> ids(wanted, guard);
  Guarded<float> dst(wanted.size() * static_cast<size_t>(cols), -1.0F, guard);
  testing::run_row(row, {dtype, cols},
                   {.ids = ids.data(),
                    .table = table.data(),
                    .dst = dst.data(),
                    .tokens = static_cast<int64_t>(wanted.size()),
                    .vocabulary = kVocabulary,
                    .cols = cols,
                    .dtype = dtype,
                    .scale = scale},
                   2, guard);
  return dst.values();
}

TEST(Embedding, rows_agree_with_the_reference) {
  for (int i = 0; i <= static_cast<int>(kLastDType); ++i) {
    const auto dtype = static_cast<DType>(i);
    if (!ref::legal(Embedding::Problem{dtype, 256}).empty()) continue;  // integers
    for (const int64_t cols : {32, 96, 256, 576, 768}) {
      if (!row_bytes(dtype, cols)) continue;
      for (const float scale : {1.0F, 24.0F}) {
        const std::vector<float> expected = run(testing::reference_of(embedding_rows()), dtype, cols, scale);
        testing::each_fast_row(embedding_rows(), {dtype, cols}, [&](const Row<Embedding>& row) {
          for (const Guard guard : testing::guards())
            EXPECT_EQ(run(row, dtype, cols, scale, guard), expected) << name_of(dtype) << " " << cols;
        });
      }
    }
  }
}

TEST(Embedding, ids_outside_the_table_give_zeros) {
  for (const Row<Embedding>& row : testing::all_rows(embedding_rows())) {
    const std::vector<float> dst = run(row, DType::f32, 32, 2.0F);
    float first[32];
    dequantise_row(DType::f32, stored_table(DType::f32, 32).data(), 32, first);
    EXPECT_FLOAT_EQ(dst[5], 2.0F * first[5]);
    EXPECT_EQ(std::count(dst.begin() + 3 * 32, dst.begin() + 5 * 32, 0.0F), 64);  // ids -1 and 50
    EXPECT_NE(dst[5 * 32], 0.0F);
  }
}

TEST(Embedding, refuses_ragged_blocks) {
  for (const Row<Embedding>& row : testing::all_rows(embedding_rows())) {
    EXPECT_NE(row.supports({DType::q4_0, 33}), "");
    EXPECT_NE(row.supports({DType::i32, 32}), "");
  }
}

}  // namespace
}  // namespace orrery::kernels
