#include "kernels/fastmax_scan.h"

#include <cmath>
#include <limits>

#include "kernels/lab/fastmax_scan_case.h"
#include "tests/kernels/row_testing.h"

namespace orrery::kernels {
namespace {

using lab::FastmaxScanCase;
using lab::FastmaxScanShape;

/// Decode steps, prompts and parts of them, with and without a place to come back to.
const std::vector<std::vector<FastmaxScanShape::Part>> kSteps = {
    {{1, 1}},
    {{1, 9, -1, false}},
    {{33, 33, 32}},
    {{32, 70, 0, false}, {1, 1}, {5, 5, 5}},
    {{3, 40, 2}, {34, 34, 20, false}, {1, 6}, {1, 7, 1}},
};

TEST(FastmaxScan, rows_agree_with_the_reference) {
  size_t step = 0;
  for (const int64_t dim : {1, 3, 4, 7, 16, 33, 40})
    for (const int p : {1, 2}) {
      SCOPED_TRACE(std::to_string(dim) + " dims, p = " + std::to_string(p));
      FastmaxScanShape shape{.heads = 6, .kv_heads = 2, .dim = dim, .parts = kSteps[step++ % kSteps.size()]};
      shape.fastmax.p = p;
      testing::expect_rows_agree(FastmaxScanCase(shape), fastmax_scan_rows());
    }
}

TEST(FastmaxScan, every_step_agrees) {
  for (const auto& parts : kSteps)
    for (const bool normalise : {true, false}) {
      FastmaxScanShape shape{.heads = 3, .kv_heads = 3, .dim = 12, .parts = parts};
      shape.fastmax = {.p = 2, .normalise = normalise, .limit = 1.5F};
      testing::expect_rows_agree(FastmaxScanCase(shape), fastmax_scan_rows(), testing::kOneGuard);
    }
  FastmaxScanShape large{.heads = 2, .kv_heads = 1, .dim = 64, .parts = {{40, 50}}};
  testing::expect_rows_agree(FastmaxScanCase(large), fastmax_scan_rows(), testing::kOneGuard);
}

/// The reference too: whatever the row, a text's numbers are those of the text alone. So what a prompt leaves
/// is what its tokens leave one after another.
TEST(FastmaxScan, chunks_equal_the_whole) {
  constexpr int64_t kLength = 70;
  FastmaxScanShape shape{.heads = 4, .kv_heads = 2, .dim = 20, .text = kLength};
  const int64_t cols = shape.heads * shape.dim;
  for (const Row<FastmaxScan>& row : testing::all_rows(fastmax_scan_rows())) {
    shape.parts = {{kLength, kLength}};
    const FastmaxScanCase all(shape);
    if (!lab::refusal_of(row, all.problem).empty()) continue;
    SCOPED_TRACE(std::string(row.name));
    const auto whole = testing::run(all, row);
    const auto floats = static_cast<size_t>(FastmaxScan::floats(all.problem));
    for (const int64_t chunk : {1, 7, 31, 32, 33}) {
      std::vector<float> held, dst;
      for (int64_t at = 0; at < kLength; at += chunk) {
        const int64_t tokens = std::min(chunk, kLength - at);
        shape.parts = {{tokens, at + tokens, at % 2 == 0 ? tokens / 2 : -1}};
        const auto step = testing::run(FastmaxScanCase(shape, held), row, at % 3 == 0 ? 1 : 3);
        dst.insert(dst.end(), step[0].values.begin(), step[0].values.begin() + tokens * cols);
        held = step[1].values;
      }
      EXPECT_EQ(dst, whole[0].values) << "chunks of " << chunk;
      EXPECT_TRUE(std::equal(held.begin(), held.begin() + static_cast<std::ptrdiff_t>(floats),
                             whole[1].values.begin()))
          << "chunks of " << chunk;
    }
  }
}

/// The middle is what a step of so many tokens would have left, and one can go on from it.
TEST(FastmaxScan, middle_is_a_place_to_come_back_to) {
  FastmaxScanShape shape{.heads = 2, .kv_heads = 2, .dim = 8, .text = 40};
  testing::each_fast_row(
      fastmax_scan_rows(), FastmaxScanCase(shape).problem, [&](const Row<FastmaxScan>& row) {
        shape.parts = {{40, 40, 32}};
        const auto whole = testing::run(FastmaxScanCase(shape), row);
        shape.parts = {{32, 32}};
        const auto first = testing::run(FastmaxScanCase(shape), row);
        const auto floats = static_cast<std::ptrdiff_t>(first[1].values.size() / FastmaxScanCase::kRecords);
        EXPECT_TRUE(std::equal(first[1].values.begin(), first[1].values.begin() + floats,
                               whole[1].values.begin() + 2 * floats));
      });
}

/// Attention over packed keys is the other form of the same.
TEST(FastmaxScan, gives_what_attention_gives) {
  for (const auto& fastmax : {Attention::Fastmax{2, true, 1.0F}, Attention::Fastmax{2, false, 1.0F},
                              Attention::Fastmax{1, true, 0.9F}, Attention::Fastmax{2, true, 3.0F}}) {
    constexpr int64_t kTokens = 50, kHeads = 4, kKvHeads = 2, kDim = 12;
    const auto query = testing::random_floats(kTokens * kHeads * kDim, 1);
    const auto key = testing::random_floats(kTokens * kKvHeads * kDim, 2);
    const auto value = testing::random_floats(kTokens * kKvHeads * kDim, 3);
    const int32_t starts[] = {0, kTokens}, lengths[] = {kTokens};
    std::vector<float> wanted(query.size()), dst(query.size());
    Attention::Args attention;
    attention.problem = {.keys = Attention::Keys::packed,
                         .kv = DType::f32,
                         .heads = kHeads,
                         .kv_heads = kKvHeads,
                         .head_dim = kDim,
                         .tokens = kTokens,
                         .kind = Attention::Kind::fastmax,
                         .fastmax = fastmax};
    attention.query = query.data();
    attention.key = key.data();
    attention.value = value.data();
    attention.dst = wanted.data();
    attention.query_stride = attention.dst_stride = kHeads * kDim;
    attention.key_stride = attention.value_stride = kKvHeads * kDim;
    attention.scale = 0.3F;
    attention.ragged = {starts, lengths, nullptr, 1, 0, kTokens};
    ref::attention(attention, {});
    const FastmaxScan::Problem problem{kHeads, kKvHeads, kDim, fastmax, kTokens};
    std::vector<float> record(static_cast<size_t>(FastmaxScan::floats(problem)));
    const RecordUse use{-1, -1, 0, 0};
    ref::fastmax_scan({.problem = problem,
                       .query = query.data(),
                       .key = key.data(),
                       .value = value.data(),
                       .dst = dst.data(),
                       .scale = 0.3F,
                       .ragged = {starts, lengths, nullptr, 1, 0, kTokens},
                       .uses = &use,
                       .records = {reinterpret_cast<std::byte*>(record.data()), 0}},
                      {});
    for (size_t i = 0; i < dst.size(); ++i) EXPECT_NEAR(dst[i], wanted[i], 2e-5) << i;
  }
}

/// Float32 sums of a long text: no digits are lost that matter.
TEST(FastmaxScan, long_texts_keep_their_digits) {
  constexpr int64_t kTokens = 100'000, kDim = 4;
  FastmaxScanShape shape{.heads = 1, .kv_heads = 1, .dim = kDim, .parts = {{kTokens, kTokens}}};
  testing::each_fast_row(
      fastmax_scan_rows(), FastmaxScanCase(shape).problem, [&](const Row<FastmaxScan>& row) {
        const auto told = testing::run(FastmaxScanCase(shape), row);
        // By f(s) = 1 + s + s^2 / 2 in float64, of the last token alone.
        const auto text = [&](uint32_t which) {
          return testing::random_floats(kTokens * kDim, shape.seed + 97 * which);
        };
        const auto query = text(1), key = text(2), value = text(3);
        const auto dot = [=](const float* a, const float* b) {
          double sum = 0;
          for (int64_t d = 0; d < kDim; ++d) sum += static_cast<double>(a[d]) * b[d];
          return sum;
        };
        const float* last = query.data() + (kTokens - 1) * kDim;
        double total[kDim] = {}, divisor = 0, size = 0;
        for (int64_t j = 0; j < kTokens; ++j) {
          const float* k = key.data() + j * kDim;
          const double s = dot(last, k) / std::sqrt(dot(last, last) * dot(k, k)), weight = 1 + s + s * s / 2;
          divisor += weight;
          for (int64_t d = 0; d < kDim; ++d) total[d] += weight * value[static_cast<size_t>(j * kDim + d)];
        }
        for (const double sum : total) size = std::max(size, std::abs(sum / divisor));
        for (int64_t d = 0; d < kDim; ++d)
          EXPECT_NEAR(told[0].values[static_cast<size_t>((kTokens - 1) * kDim + d)], total[d] / divisor,
                      1e-3 * size);
      });
}

/// What is not finite stays in the state, and in its own sequence.
TEST(FastmaxScan, nan_stays_with_its_sequence) {
  constexpr int64_t kDim = 5, kTokens = 2;
  const FastmaxScan::Problem problem{1, 1, kDim, {}, 2 * kTokens};
  testing::each_fast_row(fastmax_scan_rows(), problem, [&](const Row<FastmaxScan>& row) {
    ThreadTeam team(2);
    testing::GuardedPlace place(team, testing::placed(row, testing::Guard::after));
    std::vector<float> rows(2 * kTokens * kDim, 1.0F), key = rows;
    key[0] = std::numeric_limits<float>::quiet_NaN();
    const std::vector<RecordUse> uses = {{-1, -1, 0, 0}, {-1, -1, 0, 1}};
    const std::vector<int32_t> starts = {0, kTokens, 2 * kTokens}, lengths = {kTokens, kTokens};
    const auto floats = static_cast<size_t>(FastmaxScan::floats(problem));
    float* records = place.put(std::vector<float>(2 * floats));
    float* dst = place.put(rows);
    const FastmaxScan::Args args{.problem = problem,
                                 .query = place.put(rows),
                                 .key = place.put(key),
                                 .value = place.put(rows),
                                 .dst = dst,
                                 .ragged = {place.put(starts), place.put(lengths), nullptr, 2, 0, kTokens},
                                 .uses = place.put(uses),
                                 .records = {reinterpret_cast<std::byte*>(records), floats * sizeof(float)}};
    row.run(args, place.launch(lab::put_workspace(row, problem, place)));
    place.wait();
    const std::vector<float> given = place.get(dst, rows.size());
    for (int64_t i = 0; i < 2 * kTokens * kDim; ++i) {
      const float one = given[static_cast<size_t>(i)];
      if (i < kTokens * kDim)
        EXPECT_TRUE(std::isnan(one)) << i;
      else
        EXPECT_NEAR(one, 1.0F, 1e-6) << i;
    }
  });
}

TEST(FastmaxScan, unread_sequences_write_no_record) {
  const FastmaxScan::Problem problem{2, 1, 4, {}, 1};
  testing::each_fast_row(fastmax_scan_rows(), problem, [&](const Row<FastmaxScan>& row) {
    ThreadTeam team(2);
    testing::GuardedPlace place(team, testing::placed(row, testing::Guard::after));
    const std::vector<float> rows(8, 2.0F);
    float* dst = place.put(std::vector<float>(8, 5.0F));
    const FastmaxScan::Args args{.problem = problem,
                                 .query = place.put(rows),
                                 .key = place.put(rows),
                                 .value = place.put(rows),
                                 .dst = dst,
                                 .ragged = {place.put(std::vector<int32_t>{0, 1}),
                                            place.put(std::vector<int32_t>{1}), nullptr, 1, 0, 1},
                                 .uses = place.put(std::vector<RecordUse>(1)),
                                 .records = {}};
    row.run(args, place.launch(lab::put_workspace(row, problem, place)));
    place.wait();
    EXPECT_EQ(place.get(dst, 8), std::vector<float>(8, 0.0F));
  });
}

TEST(FastmaxScan, refuses_what_is_not_legal) {
  const Row<FastmaxScan>& last = fastmax_scan_rows().back();
  EXPECT_EQ(lab::refusal_of(last, {4, 2, 64}), "");
  EXPECT_NE(lab::refusal_of(last, {4, 3, 64}), "");
  EXPECT_NE(lab::refusal_of(last, {4, 2, 0}), "");
  EXPECT_NE(lab::refusal_of(last, {4, 2, 257}), "");
  EXPECT_NE(lab::refusal_of(last, {4, 2, 64, {3, true, 1.0F}}), "");
  EXPECT_NE(lab::refusal_of(last, {4, 2, 64, {1, false, 1.0F}}), "");
  EXPECT_NE(lab::refusal_of(last, {4, 2, 64, {1, true, 1.1F}}), "");
  EXPECT_NE(lab::refusal_of(last, {4, 2, 64, {2, true, 0.0F}}), "");
}

}  // namespace
}  // namespace orrery::kernels
