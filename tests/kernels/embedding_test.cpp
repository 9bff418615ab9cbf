#include "kernels/embedding.h"

#include "kernels/linear.h"
#include "tests/kernels/row_testing.h"

namespace orrery::kernels {
namespace {

using testing::Guard;
using testing::Guarded;
using testing::random_floats;

std::vector<float> run(const Row<Embedding>& row, DType dtype, int64_t cols, float scale,
                       Guard guard = Guard::after) {
  constexpr int64_t kVocabulary = 50;
  const size_t stride = row_bytes(dtype, cols).value();
  guard = testing::placed(row, guard);
  std::vector<std::byte> stored(kVocabulary * stride);
  for (int64_t r = 0; r < kVocabulary; ++r) {
    const std::vector<float> values = random_floats(static_cast<size_t>(cols), static_cast<uint32_t>(r));
    quantise_row(dtype, values.data(), cols, stored.data() + static_cast<size_t>(r) * stride);
  }
  const Guarded<std::byte> table(stored, guard);
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
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16, DType::q4_0, DType::q4_1, DType::q8_0}) {
    for (const int64_t cols : {int64_t{32}, int64_t{96}, int64_t{576}}) {
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
    const std::vector<float> first = random_floats(32, 0);
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
