#include "kernels/embedding.h"

#include "kernels/lab/embedding_case.h"
#include "kernels/linear.h"
#include "tests/kernels/row_testing.h"

namespace orrery::kernels {
namespace {

constexpr int64_t kVocabulary = 50;

lab::EmbeddingCase made(DType dtype, int64_t cols, float scale) {
  std::vector<int32_t> ids = {0, 49, 7, -1, 50, 7};
  for (int32_t i = 0; i < 40; ++i) ids.push_back(i);
  return {dtype, cols, kVocabulary, ids, scale};
}

TEST(Embedding, rows_agree_with_the_reference) {
  for (int i = 0; i <= static_cast<int>(kLastDType); ++i) {
    const auto dtype = static_cast<DType>(i);
    if (!ref::legal(Embedding::Problem{dtype, 256}).empty()) continue;  // integers
    for (const int64_t cols : {32, 96, 256, 576, 768}) {
      if (!row_bytes(dtype, cols)) continue;
      for (const float scale : {1.0F, 24.0F}) {
        SCOPED_TRACE(std::string(name_of(dtype)) + " " + std::to_string(cols));
        testing::expect_rows_agree(made(dtype, cols, scale), embedding_rows());
      }
    }
  }
}

TEST(Embedding, ids_outside_the_table_give_zeros) {
  const lab::EmbeddingCase c = made(DType::f32, 32, 2.0F);
  float first[32];
  dequantise_row(DType::f32, c.table().data(), 32, first);
  for (const Row<Embedding>& row : testing::all_rows(embedding_rows())) {
    const std::vector<float> dst = testing::run(c, row)[0].values;
    EXPECT_FLOAT_EQ(dst[5], 2.0F * first[5]);
    EXPECT_EQ(std::count(dst.begin() + 3 * 32, dst.begin() + 5 * 32, 0.0F), 64);  // ids -1 and 50
    EXPECT_NE(dst[5 * 32], 0.0F);
  }
}

TEST(Embedding, refuses_ragged_blocks) {
  for (const Row<Embedding>& row : testing::all_rows(embedding_rows())) {
    EXPECT_NE(lab::refusal_of(row, {DType::q4_0, 33}), "");
    EXPECT_NE(lab::refusal_of(row, {DType::i32, 32}), "");
  }
}

}  // namespace
}  // namespace orrery::kernels
