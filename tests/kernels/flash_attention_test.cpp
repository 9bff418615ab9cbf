#include "kernels/flash_attention.h"

#include <random>

#include "kernels/lab/flash_attention_case.h"
#include "tests/kernels/row_testing.h"

namespace orrery::kernels {
namespace {

using lab::FlashBackwardCase;
using lab::FlashCase;
using lab::FlashShape;

constexpr DType kFloatTypes[] = {DType::f32, DType::bf16, DType::f16};

void expect_both_agree(const FlashShape& shape) {
  testing::expect_rows_agree(FlashCase(shape), flash_attention_rows(), testing::kOneGuard);
  testing::expect_rows_agree(FlashBackwardCase(shape), flash_attention_backward_rows(), testing::kOneGuard);
}

/// Options that cost no time, drawn.
void draw_layout(std::mt19937& random, FlashShape& shape) {
  const auto is = [&] { return random() % 2 == 0; };
  const auto dims = [&] { return lab::ScoreDims{.batch = is(), .head = is(), .query = is(), .key = is()}; };
  shape.bias_dims = dims();
  shape.mask_dims = dims();
  shape.bias_type = is() ? DType::f32 : shape.dtype;
  shape.masking_bias = is();
  shape.turned = is();
  shape.interleaved = is();
  shape.gap = static_cast<int64_t>(random() % 3) * 4 + (is() ? 3 : 0);
  shape.seed = static_cast<uint32_t>(random());
}

TEST(FlashAttention, every_size_of_a_head) {
  std::mt19937 random(1);
  for (const int64_t dim :
       {1, 2, 7, 8, 15, 16, 17, 24, 32, 33, 40, 64, 72, 80, 96, 128, 129, 160, 192, 255, 256})
    for (const DType dtype : kFloatTypes) {
      FlashShape shape{.heads = 2,
                       .queries = 19,
                       .keys = 70,
                       .head_dim = dim,
                       .dtype = dtype,
                       .causal = random() % 2 == 0};
      draw_layout(random, shape);
      SCOPED_TRACE("heads of " + std::to_string(dim) + ", " + std::string(name_of(dtype)));
      expect_both_agree(shape);
    }
}

TEST(FlashAttention, odd_numbers_of_queries_and_keys) {
  std::mt19937 random(2);
  for (const int64_t queries : {1, 2, 3, 5, 15, 17, 63, 64, 65, 130})
    for (const int64_t keys : {1, 2, 15, 17, 63, 64, 65, 129, 200}) {
      FlashShape shape{.batch = 2,
                       .heads = 4,
                       .kv_heads = static_cast<int64_t>(1) << random() % 3,
                       .queries = queries,
                       .keys = keys,
                       .head_dim = 16,
                       .dtype = kFloatTypes[random() % 3],
                       .causal = random() % 2 == 0,
                       .lengths = random() % 2 == 0};
      draw_layout(random, shape);
      SCOPED_TRACE(std::to_string(queries) + " queries, " + std::to_string(keys) + " keys of " +
                   std::string(name_of(shape.dtype)) + (shape.causal ? ", causal" : ""));
      expect_both_agree(shape);
    }
}

TEST(FlashAttention, every_option_of_every_type) {
  std::mt19937 random(3);
  for (const DType dtype : kFloatTypes)
    for (int options = 0; options < 256; ++options) {
      const auto has = [&](int option) { return (options >> option & 1) != 0; };
      FlashShape shape{.batch = 2,
                       .heads = 2,
                       .kv_heads = 1,
                       .queries = 9,
                       .keys = 70,
                       .head_dim = 20,
                       .dtype = dtype,
                       .causal = has(0),
                       .window_left = has(1) ? static_cast<int64_t>(random() % 70) : -1,
                       .window_right = has(2) ? static_cast<int64_t>(random() % 70) : -1,
                       .softcap = has(3) ? 1.5F : 0.0F,
                       .bias = has(4),
                       .mask = has(5),
                       .lengths = has(6),
                       .p = has(7) ? 0.3 : 0.0};
      draw_layout(random, shape);
      SCOPED_TRACE("options " + std::to_string(options) + " of " + std::string(name_of(dtype)));
      expect_both_agree(shape);
    }
}

TEST(FlashAttention, several_tiles_with_all_that_there_is) {
  for (const DType dtype : kFloatTypes) {
    FlashShape shape{.heads = 4,
                     .kv_heads = 2,
                     .queries = 150,
                     .keys = 333,
                     .head_dim = 64,
                     .dtype = dtype,
                     .causal = true,
                     .window_left = 200,
                     .softcap = 20,
                     .bias = true,
                     .mask = true,
                     .p = 0.2};
    expect_both_agree(shape);
    shape = {.heads = 1, .queries = 200, .keys = 70, .head_dim = 128, .dtype = dtype, .window_right = 10};
    expect_both_agree(shape);
  }
}

/// Rows that begin at multiples of 16 bytes, of heads of whole vectors: what tensor cores take.
TEST(FlashAttention, every_option_of_whole_vectors) {
  std::mt19937 random(4);
  constexpr int64_t kDims[] = {24, 64, 128, 256};
  for (int options = 0; options < 256; options += 3) {
    const auto has = [&](int option) { return (options >> option & 1) != 0; };
    FlashShape shape{.batch = 2,
                     .heads = 2,
                     .kv_heads = 1,
                     .queries = 20,
                     .keys = 80,
                     .head_dim = kDims[random() % 4],
                     .dtype = random() % 2 == 0 ? DType::f16 : DType::bf16,
                     .causal = has(0),
                     .window_left = has(1) ? static_cast<int64_t>(random() % 80) : -1,
                     .window_right = has(2) ? static_cast<int64_t>(random() % 80) : -1,
                     .softcap = has(3) ? 1.5F : 0.0F,
                     .bias = has(4),
                     .mask = has(5),
                     .lengths = has(6),
                     .p = has(7) ? 0.3 : 0.0};
    draw_layout(random, shape);
    shape.gap = static_cast<int64_t>(random() % 2) * 8;
    SCOPED_TRACE("options " + std::to_string(options) + ", heads of " + std::to_string(shape.head_dim) +
                 ", " + std::string(name_of(shape.dtype)));
    expect_both_agree(shape);
  }
}

/// Several tiles of queries and of keys of each size of tile, so that stages are used again.
TEST(FlashAttention, many_tiles_of_whole_vectors) {
  for (const int64_t dim : {64, 128, 256})
    for (const bool causal : {false, true}) {
      const FlashShape shape{.batch = 2,
                             .heads = 4,
                             .kv_heads = 2,
                             .queries = causal ? 333 : 190,
                             .keys = 600,
                             .head_dim = dim,
                             .dtype = causal ? DType::bf16 : DType::f16,
                             .causal = causal,
                             .lengths = !causal,
                             .interleaved = causal};
      SCOPED_TRACE("heads of " + std::to_string(dim) + (causal ? ", causal" : ""));
      expect_both_agree(shape);
    }
}

/// Gradients where more queries are than keys, in windows, of a head that is no whole tile, and of more units
/// of work than multiprocessors.
TEST(FlashAttention, gradients_of_many_tiles) {
  for (const int64_t dim : {40, 64, 96, 128}) {
    const FlashShape shape{.batch = 2,
                           .heads = 4,
                           .kv_heads = 2,
                           .queries = 421,
                           .keys = 300,
                           .head_dim = dim,
                           .dtype = dim % 64 == 0 ? DType::bf16 : DType::f16,
                           .causal = dim > 64,
                           .window_left = dim == 96 ? -1 : 130,
                           .window_right = dim == 40 ? 70 : -1,
                           .scale = dim == 64 ? -0.2F : 0.0F,
                           .interleaved = dim == 40};
    SCOPED_TRACE("heads of " + std::to_string(dim));
    testing::expect_rows_agree(FlashBackwardCase(shape), flash_attention_backward_rows(), testing::kOneGuard);
  }
  const FlashShape shape{.heads = 140,
                         .kv_heads = 70,
                         .queries = 200,
                         .keys = 200,
                         .head_dim = 64,
                         .dtype = DType::bf16,
                         .causal = true};
  testing::expect_rows_agree(FlashBackwardCase(shape), flash_attention_backward_rows(), testing::kOneGuard);
}

/// More units of work than multiprocessors, of 64 elements a head: short ones, and with a softcap.
TEST(FlashAttention, many_short_causal_heads) {
  FlashShape shape{.heads = 140,
                   .kv_heads = 70,
                   .queries = 200,
                   .keys = 200,
                   .head_dim = 64,
                   .dtype = DType::bf16,
                   .causal = true};
  testing::expect_rows_agree(FlashCase(shape), flash_attention_rows(), testing::kOneGuard);
  for (const int64_t dim : {64, 128, 256}) {
    shape = {.heads = 2,
             .queries = 300,
             .keys = 333,
             .head_dim = dim,
             .dtype = DType::f16,
             .causal = dim != 128,
             .softcap = 5};
    testing::expect_rows_agree(FlashCase(shape), flash_attention_rows(), testing::kOneGuard);
  }
}

/// One query of many heads that share their keys, as in generation.
TEST(FlashAttention, one_query_of_many_keys) {
  for (const DType dtype : kFloatTypes)
    for (const int64_t queries : {1, 4, 5})
      expect_both_agree({.batch = 2,
                         .heads = 8,
                         .kv_heads = 2,
                         .queries = queries,
                         .keys = 300,
                         .head_dim = 64,
                         .dtype = dtype,
                         .causal = true,
                         .lengths = true});
}

/// So many keys that blocks of a card share those of a unit of work: of fewer units than it has
/// multiprocessors, and of the last ones of some more.
TEST(FlashAttention, keys_that_blocks_share) {
  for (const int64_t dim : {64, 72, 128, 256}) {
    const auto expect_agreement = [&](const char* what, FlashShape shape) {
      shape.head_dim = dim;
      shape.dtype = dim % 128 == 0 ? DType::bf16 : DType::f16;
      SCOPED_TRACE(std::string(what) + ", heads of " + std::to_string(dim));
      testing::expect_rows_agree(FlashCase(shape), flash_attention_rows(), testing::kOneGuard);
    };
    expect_agreement("one query of grouped heads",
                     {.batch = 2, .heads = 6, .kv_heads = 2, .keys = 1601, .causal = true});
    expect_agreement("one query of lone heads", {.heads = 3, .kv_heads = 3, .keys = 1536});
    expect_agreement("one query and a window",
                     {.heads = 4, .kv_heads = 2, .keys = 3001, .causal = true, .window_left = 1700});
    expect_agreement("some queries of different lengths",
                     {.batch = 2, .queries = 70, .keys = 1501, .causal = true, .lengths = true});
    expect_agreement("a few units more than a round",
                     {.heads = 140, .kv_heads = 70, .queries = 2, .keys = 1300});
    expect_agreement("a softcap", {.heads = 2, .queries = 5, .keys = 1500, .softcap = 4});
  }
}

/// With few queries, heads that share keys also share tiles on a card: one tile or several, with all heads of
/// a group or only some of them, full or partly empty.
TEST(FlashAttention, few_queries_of_many_single_heads) {
  for (const int64_t dim : {64, 128}) {
    SCOPED_TRACE(std::to_string(dim) + " elements");
    FlashShape texts{.batch = 3,
                     .heads = 100,
                     .kv_heads = 100,
                     .queries = 17,
                     .keys = 33,
                     .head_dim = dim,
                     .dtype = DType::bf16,
                     .causal = true};
    testing::expect_rows_agree(FlashCase(texts), flash_attention_rows(), testing::kOneGuard);
    // More heads than multiprocessors, of which each takes two, and the last of them are cut.
    FlashShape queries{
        .heads = 200, .kv_heads = 200, .queries = 1, .keys = 2600, .head_dim = dim, .dtype = DType::f16};
    testing::expect_rows_agree(FlashCase(queries), flash_attention_rows(), testing::kOneGuard);
  }
}

TEST(FlashAttention, few_queries_of_grouped_heads) {
  std::mt19937 random(2);
  for (const int64_t dim : {64, 80, 128, 256}) {
    const auto expect_agreement = [&](const char* what, FlashShape shape) {
      shape.head_dim = dim;
      shape.dtype = random() % 2 == 0 ? DType::bf16 : DType::f16;
      shape.interleaved = random() % 2 == 0;
      shape.gap = static_cast<int64_t>(random() % 2) * 8;
      SCOPED_TRACE(std::string(what) + ", heads of " + std::to_string(dim));
      testing::expect_rows_agree(FlashCase(shape), flash_attention_rows(), testing::kOneGuard);
    };
    expect_agreement("drafts", {.heads = 8, .kv_heads = 2, .queries = 8, .keys = 1700, .causal = true});
    expect_agreement(
        "three heads a group",
        {.batch = 2, .heads = 6, .kv_heads = 2, .queries = 9, .keys = 300, .causal = true, .lengths = true});
    expect_agreement("several tiles", {.heads = 8, .kv_heads = 1, .queries = 70, .keys = 90, .causal = true});
    expect_agreement("a window", {.batch = 2,
                                  .heads = 8,
                                  .kv_heads = 2,
                                  .queries = 19,
                                  .keys = 400,
                                  .causal = true,
                                  .window_left = 33});
    expect_agreement("windows to both sides, lengths of any size", {.batch = 3,
                                                                    .heads = 4,
                                                                    .kv_heads = 2,
                                                                    .queries = 40,
                                                                    .keys = 200,
                                                                    .window_left = 20,
                                                                    .window_right = 7,
                                                                    .lengths = true});
    expect_agreement("more heads than a tile has rows", {.heads = 514, .kv_heads = 1, .keys = 200});
    expect_agreement("a softcap", {.heads = 4, .kv_heads = 1, .queries = 6, .keys = 130, .softcap = 3});
  }
}

/// 32 queries, keys and dims, softmax of query key^T: what every tutorial of the algorithm begins with.
TEST(FlashAttention, a_single_head_whose_scores_have_no_factor) {
  expect_both_agree({.queries = 32, .keys = 32, .head_dim = 32, .scale = 1});
}

/// Beside memory that must not be touched, on both sides.
TEST(FlashAttention, reads_and_writes_nothing_else) {
  for (const DType dtype : kFloatTypes)
    for (const int64_t dim : {5, 64}) {
      const FlashShape shape{.batch = 2,
                             .heads = 2,
                             .queries = 21,
                             .keys = 83,
                             .head_dim = dim,
                             .dtype = dtype,
                             .bias = true,
                             .mask = true,
                             .p = 0.1};
      testing::expect_rows_agree(FlashCase(shape), flash_attention_rows());
      testing::expect_rows_agree(FlashBackwardCase(shape), flash_attention_backward_rows());
    }
}

}  // namespace
}  // namespace orrery::kernels
