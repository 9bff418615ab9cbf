#include "kernels/attention.h"

#include <numeric>

#include "kernels/cpu/isa.h"
#include "kernels/half.h"
#include "tests/kernels/attention_testing.h"

namespace orrery::kernels {
namespace {

using testing::Part;
using testing::Sequence;
using testing::Shape;
using testing::Step;
using Keys = Attention::Keys;

const Row<Attention>& reference() { return testing::reference_of(attention_rows()); }

/// Rows [begin, end) of a result.
std::vector<float> rows_of(const std::vector<float>& dst, const Shape& shape, int64_t begin, int64_t end) {
  const int64_t width = shape.heads * shape.head_dim;
  return {dst.begin() + begin * width, dst.begin() + end * width};
}

double length(const float* row, int64_t dim) {
  return std::sqrt(std::inner_product(row, row + dim, row, 0.0));
}

/// Of a query and a key with this product of their lengths.
double fastmax_weight(const Shape& shape, double dot, double lengths) {
  const double limit = shape.fastmax.limit;
  const double score = shape.fastmax.normalise ? limit * limit * dot / lengths : 0.3F * dot;
  return shape.fastmax.p == 2 ? 1 + score + score * score / 2 : std::max(1 + score, 0.0);
}

std::vector<float> naive(const Shape& shape, const Sequence& sequence, int64_t position, int64_t head) {
  const int64_t kv_head = head / (shape.heads / shape.kv_heads);
  const int64_t dim = shape.head_dim;
  const int64_t end = shape.causal ? position + 1 : sequence.length;
  const std::vector<float> bias = testing::AttentionCase::bias_of(shape);
  std::vector<double> weights;
  for (int64_t j = 0; j < end; ++j) {
    double dot = 0;
    for (int64_t d = 0; d < dim; ++d) {
      dot += static_cast<double>(
                 sequence.query[static_cast<size_t>((position * shape.heads + head) * dim + d)]) *
             sequence.key[static_cast<size_t>((j * shape.kv_heads + kv_head) * dim + d)];
    }
    if (shape.kind == Attention::Kind::fastmax) {
      const auto query = &sequence.query[static_cast<size_t>((position * shape.heads + head) * dim)];
      const auto key = &sequence.key[static_cast<size_t>((j * shape.kv_heads + kv_head) * dim)];
      const bool seen = shape.window == 0 || std::abs(j - position) < shape.window;
      weights.push_back(seen ? fastmax_weight(shape, dot, length(query, dim) * length(key, dim)) : 0.0);
      continue;
    }
    double score = 0.3F * dot;
    if (shape.softcap > 0) score = shape.softcap * std::tanh(score / shape.softcap);
    if (const int64_t reach = shape.bias_reach; reach > 0)
      score +=
          bias[static_cast<size_t>(head * (2 * reach + 1) + reach + std::clamp(j - position, -reach, reach))];
    const bool far = shape.window > 0 && std::abs(j - position) >= shape.window;
    weights.push_back(far ? 0.0 : std::exp(score));
  }
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<float> result;
  for (int64_t d = 0; d < dim; ++d) {
    double total = 0;
    for (int64_t j = 0; j < end; ++j) {
      total += weights[static_cast<size_t>(j)] *
               sequence.value[static_cast<size_t>((j * shape.kv_heads + kv_head) * dim + d)];
    }
    result.push_back(static_cast<float>(total / sum));
  }
  return result;
}

constexpr Attention::Kind kSoftmax = Attention::Kind::softmax, kFastmax = Attention::Kind::fastmax;

TEST(Attention, reference_is_the_formula_in_float64) {
  const std::vector<Shape> shapes = {
      {.head_dim = 8, .kv = DType::f32},
      {.heads = 6, .kv_heads = 1, .head_dim = 5, .kv = DType::f32, .page_tokens = 3},
      {.head_dim = 8, .kv = DType::f32, .window = 4},
      {.head_dim = 8, .kv = DType::f32, .softcap = 1.5F},
      {.head_dim = 8, .kv = DType::f32, .causal = false},
      {.head_dim = 8, .kv = DType::f32, .causal = false, .window = 4},
      {.head_dim = 8, .kv = DType::f32, .causal = false, .bias_reach = 3},
      {.head_dim = 8, .kv = DType::f32, .bias_reach = 20},
      {.head_dim = 8, .kv = DType::f32, .kind = kFastmax},
      {.heads = 6, .kv_heads = 1, .head_dim = 5, .kv = DType::f32, .kind = kFastmax, .fastmax = {.p = 1}},
      {.head_dim = 8, .kv = DType::f32, .causal = false, .kind = kFastmax, .fastmax = {.limit = 3}},
      {.head_dim = 8, .kv = DType::f32, .window = 4, .kind = kFastmax, .fastmax = {.normalise = false}},
      {.head_dim = 8, .kv = DType::f32, .kind = kFastmax, .fastmax = {.p = 1, .normalise = false}}};
  for (const Shape& shape : shapes) {
    const Sequence sequence(shape, 13, 40);
    const std::vector<float> dst = Step(shape, {{&sequence, 13, 13}}).run(reference());
    std::vector<float> expected;
    for (int64_t p = 0; p < 13; ++p) {
      for (int64_t h = 0; h < shape.heads; ++h) {
        const std::vector<float> row = naive(shape, sequence, p, h);
        expected.insert(expected.end(), row.begin(), row.end());
      }
    }
    EXPECT_LT(testing::relative_error(dst, expected), 1e-6);
  }
}

const std::vector<Shape> kShapes = {
    {},
    {.heads = 9, .kv_heads = 3, .head_dim = 64, .page_tokens = 32},
    {.heads = 3, .kv_heads = 3, .head_dim = 32, .kv = DType::bf16},
    {.heads = 8, .kv_heads = 1, .head_dim = 128, .kv = DType::f32},
    {.heads = 2, .kv_heads = 1, .head_dim = 80, .page_tokens = 7},
    {.heads = 5, .kv_heads = 5, .head_dim = 20, .kv = DType::bf16, .page_tokens = 1},
    {.heads = 71, .kv_heads = 1, .head_dim = 8},
    {.heads = 8, .kv_heads = 2, .head_dim = 128, .kv = DType::bf16, .page_tokens = 32},
    {.heads = 16, .kv_heads = 1, .head_dim = 96},
    {.heads = 2, .kv_heads = 2, .head_dim = 1, .kv = DType::f32},
    {.heads = 4, .kv_heads = 2, .head_dim = 64, .window = 37},
    {.heads = 4, .kv_heads = 2, .head_dim = 256, .softcap = 2.0F},
    {.heads = 4, .kv_heads = 2, .head_dim = 48, .kv = DType::f32, .causal = false},
    {.heads = 3, .kv_heads = 3, .head_dim = 64, .kv = DType::f32, .causal = false, .window = 65},
    {.heads = 4, .kv_heads = 2, .head_dim = 32, .kv = DType::f32, .causal = false, .bias_reach = 128},
    {.heads = 4, .kv_heads = 2, .head_dim = 16, .bias_reach = 2},
    {.heads = 9, .kv_heads = 3, .head_dim = 64, .kv = DType::q8_0, .page_tokens = 32},
    {.heads = 6, .kv_heads = 1, .head_dim = 96, .kv = DType::q8_0, .page_tokens = 7, .window = 37},
    {.heads = 2, .kv_heads = 2, .head_dim = 32, .kv = DType::q8_0, .softcap = 2.0F},
    {.heads = 9, .kv_heads = 3, .page_tokens = 32, .kind = kFastmax},
    {.heads = 8, .kv_heads = 1, .head_dim = 128, .kv = DType::f32, .kind = kFastmax, .fastmax = {.p = 1}},
    {.heads = 2, .kv_heads = 1, .head_dim = 80, .page_tokens = 7, .kind = kFastmax, .fastmax = {.limit = 4}},
    {.heads = 5, .kv_heads = 5, .head_dim = 20, .kv = DType::bf16, .page_tokens = 1, .kind = kFastmax},
    {.heads = 71, .kv_heads = 1, .head_dim = 8, .kind = kFastmax, .fastmax = {.p = 1}},
    {.heads = 2, .kv_heads = 2, .head_dim = 1, .kv = DType::f32, .kind = kFastmax},
    {.window = 37, .kind = kFastmax},
    {.head_dim = 256, .kind = kFastmax, .fastmax = {.normalise = false}},
    {.head_dim = 48, .kv = DType::f32, .causal = false, .kind = kFastmax, .fastmax = {.p = 1, .limit = 0.5F}},
    {.head_dim = 64, .kv = DType::f32, .causal = false, .window = 65, .kind = kFastmax},
    {.heads = 9, .kv_heads = 3, .kv = DType::q8_0, .page_tokens = 32, .kind = kFastmax, .fastmax = {.p = 1}},
    {.heads = 6, .kv_heads = 1, .head_dim = 96, .kv = DType::q8_0, .window = 37, .kind = kFastmax},
    {.head_dim = 32, .kind = kFastmax, .fastmax = {.p = 1, .normalise = false}},
};

TEST(Attention, rows_agree_with_the_reference) {
  for (const Shape& shape : kShapes) {
    const Sequence first(shape, 330, 50);
    const Sequence second(shape, 600, 60);
    const Sequence third(shape, 65, 70);
    const std::vector<std::vector<Part>> steps = {
        {{&third, 65, 65}},
        {{&first, 1, 330}},
        {{&third, 1, 1}},
        {{&first, 70, 330}, {&second, 1, 513}, {&third, 64, 64}, {&second, 0, 90}, {&second, 3, 600}},
    };
    for (const std::vector<Part>& parts : steps) {
      SCOPED_TRACE(std::to_string(shape.heads) + "/" + std::to_string(shape.kv_heads) + " x " +
                   std::to_string(shape.head_dim) + ", " + std::string(name_of(shape.kv)));
      testing::expect_rows_agree(Step(shape, parts).on(), attention_rows(), testing::kOneGuard);
    }
  }
}

// Each sequence fills its one page, so that its last key and value end where the memory ends.
TEST(Attention, rows_stay_inside_their_operands) {
  for (const DType kv : {DType::f32, DType::f16, DType::bf16, DType::q8_0}) {
    for (const int64_t head_dim : {1, 20, 64, 80, 96, 128}) {
      if (!row_bytes(kv, head_dim)) continue;
      for (const int64_t length : {1, 31, 32, 33, 64, 65}) {
        Shape shape{.heads = 6, .kv_heads = 2, .head_dim = head_dim, .kv = kv, .page_tokens = length};
        const Sequence sequence(shape, length, 120);
        for (const int64_t tokens : {int64_t{1}, length}) {
          SCOPED_TRACE(std::to_string(tokens) + " of " + std::to_string(length) + " x " +
                       std::to_string(head_dim));
          for (const Attention::Kind kind : {kSoftmax, kFastmax}) {
            shape.kind = kind;
            const Step step(shape, {{&sequence, tokens, length}});
            for (const Keys keys : {Keys::paged, Keys::packed}) {
              if (keys == Keys::packed && (kv != DType::f32 || tokens != length)) continue;
              testing::expect_rows_agree(step.on(keys), attention_rows());
            }
          }
        }
      }
    }
  }
}

TEST(Attention, large_scores_do_not_overflow) {
  const Shape shape{.kv = DType::f32};
  Sequence sequence(shape, 100, 80);
  for (float& x : sequence.key) x *= 60.0F;
  const Step step(shape, {{&sequence, 100, 100}});
  const std::vector<float> expected = step.run(reference());
  testing::each_fast_row(attention_rows(), step.problem(), [&](const Row<Attention>& row) {
    EXPECT_LT(testing::relative_error(step.run(row), expected), 1e-3);  // scores near 500 carry 3e-5 each
  });
}

// Lengths that no square fits, keys of nothing, scores beyond what counts. Without normalising, products of
// queries and keys must be numbers.
TEST(Attention, fastmax_is_a_mean_of_values_whatever_queries_and_keys_are) {
  for (const auto& fastmax : std::vector<Attention::Fastmax>{
           {}, {.p = 1}, {.limit = 256}, {.normalise = false}, {.p = 1, .normalise = false}}) {
    for (const DType kv : {DType::f32, DType::bf16}) {
      const Shape shape{.kv = kv, .kind = kFastmax, .fastmax = fastmax};
      const auto width = static_cast<size_t>(shape.kv_heads * shape.head_dim);
      const float most = fastmax.normalise ? INFINITY : 1e12F;
      Sequence sequence(shape, 100, 81);
      for (size_t i = 0; i < sequence.key.size(); ++i) {
        const float sizes[] = {1.0F, 0.0F, 1e-30F, 1e-16F, 1e12F, 1e17F, 1e25F};
        sequence.key[i] *= std::min(most, sizes[i / width % std::size(sizes)]);
      }
      for (size_t i = 0; i < sequence.query.size(); ++i) {
        const float sizes[] = {1.0F, 0.0F, 1e-25F, 1e10F, 1e20F};
        sequence.query[i] *= std::min(most, sizes[i / (2 * width) % std::size(sizes)]);
      }
      const Step step(shape, {{&sequence, 100, 100}});
      SCOPED_TRACE("p " + std::to_string(fastmax.p) + ", limit " + std::to_string(fastmax.limit) +
                   (fastmax.normalise ? "" : ", not normalised"));
      const std::vector<float> expected = step.run(reference());
      testing::each_fast_row(attention_rows(), step.problem(), [&](const Row<Attention>& row) {
        const std::vector<float> dst = step.run(row);
        for (const float x : dst) ASSERT_LE(std::abs(x), 8.0F);
        EXPECT_LT(testing::relative_error(dst, expected), 1e-4);  // scores of 10^5 carry 1e-2 each
      });
    }
  }
}

TEST(Attention, fastmax_without_a_weight_left_is_zero) {
  const Shape shape{
      .heads = 2, .kv_heads = 2, .kv = DType::f32, .kind = kFastmax, .fastmax = {.p = 1, .normalise = false}};
  Sequence sequence(shape, 70, 82);
  for (size_t i = 0; i < sequence.key.size(); ++i) sequence.query[i] = -sequence.key[i];
  const Step step(shape, {{&sequence, 70, 70}});
  for (const Row<Attention>& row : testing::rows_taking(step.problem(), attention_rows())) {
    const std::vector<float> dst = step.run(row);
    EXPECT_EQ(rows_of(dst, shape, 0, 1), std::vector<float>(128)) << row.name;
    EXPECT_NE(rows_of(dst, shape, 69, 70), std::vector<float>(128)) << row.name;
  }
}

TEST(Attention, a_row_computes_one_kind_and_says_so) {
  for (const Row<Attention>& row : testing::fast_rows(attention_rows())) {
    Attention::Problem problem = Step({}, {}).problem();
    const auto reason_of = [&](Attention::Kind kind) {
      problem.kind = kind;
      return lab::refusal_of(row, problem);
    };
    const auto names_the_kind = [](const std::string& reason) {
      return reason.find("the weights are those of") != std::string::npos;
    };
    EXPECT_NE(names_the_kind(reason_of(kSoftmax)), names_the_kind(reason_of(kFastmax))) << row.name;
  }
}

TEST(Attention, a_sequence_gives_the_same_bits_alone_and_in_a_batch) {
  for (const Attention::Kind kind : {kSoftmax, kFastmax}) {
    const Shape shape{.heads = 9, .kv_heads = 3, .kind = kind};
    const Sequence first(shape, 700, 90);
    const Sequence second(shape, 300, 91);
    const Sequence third(shape, 40, 92);
    const Step together(shape, {{&first, 1, 700}, {&second, 150, 290}, {&third, 40, 40}, {&second, 1, 33}});
    testing::each_fast_row(attention_rows(), together.problem(), [&](const Row<Attention>& row) {
      const std::vector<float> all = together.run(row);
      for (const int threads : {1, 2, 3}) {
        EXPECT_EQ(together.run(row, Keys::paged, threads), all) << threads;
        EXPECT_EQ(Step(shape, {{&first, 1, 700}}, 5).run(row, Keys::paged, threads),
                  rows_of(all, shape, 0, 1))
            << threads;
        EXPECT_EQ(Step(shape, {{&second, 150, 290}}, 6).run(row, Keys::paged, threads),
                  rows_of(all, shape, 1, 151));
        EXPECT_EQ(Step(shape, {{&third, 40, 40}}, 7).run(row, Keys::paged, threads),
                  rows_of(all, shape, 151, 191));
      }
    });
  }
}

TEST(Attention, a_sequence_of_a_decode_step_gives_the_same_bits_alone) {
  for (const auto& [kv, kind] : {std::pair{DType::f16, kSoftmax},
                                 {DType::bf16, kSoftmax},
                                 {DType::q8_0, kSoftmax},
                                 {DType::f16, kFastmax},
                                 {DType::q8_0, kFastmax}}) {
    const Shape shape{.heads = 6, .kv_heads = 2, .kv = kv, .kind = kind};
    const Sequence first(shape, 1300, 93);
    const Sequence second(shape, 300, 94);
    const Step together(shape, {{&first, 1, 1300}, {&second, 1, 300}, {&second, 1, 64}, {&first, 1, 1}});
    testing::each_fast_row(attention_rows(), together.problem(), [&](const Row<Attention>& row) {
      const std::vector<float> all = together.run(row);
      EXPECT_EQ(together.run(row), all) << "once more";
      EXPECT_EQ(Step(shape, {{&first, 1, 1300}}, 5).run(row), rows_of(all, shape, 0, 1));
      EXPECT_EQ(Step(shape, {{&second, 1, 300}}, 6).run(row), rows_of(all, shape, 1, 2));
      EXPECT_EQ(Step(shape, {{&first, 1, 1}}, 7).run(row), rows_of(all, shape, 3, 4));
    });
  }
}

// Steps of very few rows (decode) sum in another order than prompts; all other splits agree to the bit.
TEST(Attention, a_prompt_in_chunks_gives_the_bits_of_the_prompt_at_once) {
  for (const auto& [window, kind] :
       {std::pair{0, kSoftmax}, {100, kSoftmax}, {0, kFastmax}, {100, kFastmax}}) {
    const Shape shape{.heads = 9, .kv_heads = 3, .window = window, .kind = kind};
    const Sequence sequence(shape, 600, 95);
    const Step whole(shape, {{&sequence, 600, 600}});
    testing::each_fast_row(attention_rows(), whole.problem(), [&](const Row<Attention>& row) {
      const std::vector<float> all = whole.run(row);
      const auto part = [&](int64_t begin, int64_t end) {
        return Step(shape, {{&sequence, end - begin, end}}, 9).run(row);
      };
      for (const auto& [begin, end] :
           {std::pair<int64_t, int64_t>{0, 2}, {2, 37}, {37, 301}, {301, 598}, {598, 600}}) {
        EXPECT_EQ(part(begin, end), rows_of(all, shape, begin, end)) << begin;
      }
      for (const int64_t position : {0, 63, 64, 300, 599}) {
        const std::vector<float> expected = rows_of(all, shape, position, position + 1);
        EXPECT_LT(testing::relative_error(part(position, position + 1), expected), 2e-6) << position;
      }
    });
  }
}

TEST(Attention, page_order_and_size_change_no_bit) {
  for (const Attention::Kind kind : {kSoftmax, kFastmax}) {
    Shape shape{.heads = 4, .kv_heads = 2, .kind = kind};
    const Sequence sequence(shape, 333, 97);
    const Step step(shape, {{&sequence, 20, 333}});
    testing::each_fast_row(attention_rows(), step.problem(), [&](const Row<Attention>& row) {
      const std::vector<float> dst = step.run(row);
      for (const int64_t page_tokens : {1, 16, 32, 100, 512}) {
        shape.page_tokens = page_tokens;
        EXPECT_EQ(Step(shape, {{&sequence, 20, 333}}, 77).run(row), dst) << page_tokens;
      }
    });
  }
}

TEST(Attention, packed_sequences_attend_to_themselves_only) {
  for (const auto& [causal, kind] :
       {std::pair{false, kSoftmax}, {true, kSoftmax}, {false, kFastmax}, {true, kFastmax}}) {
    for (const int64_t head_dim : {32, 64, 24}) {
      const Shape shape{.heads = 12,
                        .kv_heads = 12,
                        .head_dim = head_dim,
                        .kv = DType::f32,
                        .causal = causal,
                        .kind = kind};
      const Sequence first(shape, 9, 100);
      const Sequence second(shape, 130, 101);
      const Sequence third(shape, 1, 102);
      const Step step(shape, {{&first, 9, 9}, {&second, 130, 130}, {&third, 1, 1}});
      const std::vector<float> expected = step.run(reference(), Keys::packed);
      EXPECT_EQ(rows_of(expected, shape, 139, 140), third.value) << "one token sees itself";
      testing::each_fast_row(attention_rows(), step.problem(Keys::packed), [&](const Row<Attention>& row) {
        const std::vector<float> dst = step.run(row, Keys::packed);
        EXPECT_LT(testing::relative_error(dst, expected), 2e-6);
        EXPECT_EQ(Step(shape, {{&second, 130, 130}}).run(row, Keys::packed, 1), rows_of(dst, shape, 9, 139));
        EXPECT_EQ(step.run(row, Keys::paged), dst) << "pages of f32 hold the same keys";
      });
    }
  }
}

TEST(Attention, packed_sequences_may_be_rounded_to_eleven_bits) {
  const std::vector<Shape> shapes = {
      {.heads = 12, .kv_heads = 12, .causal = false},
      {.heads = 12, .kv_heads = 12, .head_dim = 32, .causal = false},
      {.heads = 3, .kv_heads = 3, .head_dim = 80, .causal = false},
      {.heads = 2, .kv_heads = 2, .head_dim = 128, .causal = false},
      {.heads = 4, .kv_heads = 4, .head_dim = 20},
      {.heads = 6, .kv_heads = 2},
      {.heads = 4, .kv_heads = 2, .head_dim = 96, .window = 37},
      {.heads = 2, .kv_heads = 1, .head_dim = 4, .softcap = 2.0F},
      {.heads = 3, .kv_heads = 3, .causal = false, .window = 65},
      {.heads = 4, .kv_heads = 4, .head_dim = 16, .causal = false, .bias_reach = 128},
  };
  for (Shape shape : shapes) {
    shape.kv = DType::f32;
    shape.precision = Precision::balanced;
    SCOPED_TRACE(std::to_string(shape.heads) + "/" + std::to_string(shape.kv_heads) + " x " +
                 std::to_string(shape.head_dim));
    const Sequence first(shape, 9, 100);
    const Sequence second(shape, 300, 101);
    const Sequence third(shape, 1, 102);
    const Sequence fourth(shape, 64, 103);
    const Step step(shape, {{&first, 9, 9}, {&second, 300, 300}, {&third, 1, 1}, {&fourth, 64, 64}});
    testing::expect_rows_agree(step.on(Keys::packed), attention_rows(), testing::kOneGuard);
    testing::each_fast_row(attention_rows(), step.problem(Keys::packed), [&](const Row<Attention>& row) {
      const std::vector<float> dst = step.run(row, Keys::packed);
      EXPECT_EQ(Step(shape, {{&second, 300, 300}}).run(row, Keys::packed, 1), rows_of(dst, shape, 9, 309));
    });
  }
}

TEST(Attention, no_row_is_coarser_than_asked) {
  for (const Precision precision : kPrecisions) {
    SCOPED_TRACE(std::string(name_of(precision)));
    const Shape shape{
        .heads = 4, .kv_heads = 2, .head_dim = 48, .kv = DType::f32, .causal = false, .precision = precision};
    const Sequence sequence(shape, 77, 150);
    const Step step(shape, {{&sequence, 77, 77}});
    for (const Keys keys : {Keys::packed, Keys::paged}) {
      for (const Row<Attention>& row : testing::all_rows(attention_rows())) {
        const Rounded rounded = lab::roundings_of(row, step.problem(keys))[0].activations;
        if (!allows(precision, rounded)) {
          EXPECT_NE(lab::refusal_of(row, step.problem(keys)), "") << row.name;
        }
      }
      testing::expect_rows_agree(step.on(keys), attention_rows(), testing::kOneGuard);
    }
  }
}

// Of the CPU: packed keys in bf16 where the machine multiplies it and that is allowed, pages never.
TEST(Attention, the_first_row_rounds_as_asked) {
  if (testing::device_under_test() != nullptr) GTEST_SKIP() << "a card rounds in its own way";
  const bool bf16 = this_machine().cpu.features.has(kAvx512Bf16);
  for (const Precision precision : kPrecisions) {
    Shape shape{.heads = 2, .kv_heads = 2, .kv = DType::f32, .causal = false};
    shape.precision = precision;
    const Sequence sequence(shape, 5, 151);
    const Step step(shape, {{&sequence, 5, 5}});
    const bool rounds = bf16 && precision != Precision::exact && precision != Precision::int16;
    for (const Keys keys : {Keys::packed, Keys::paged}) {
      const auto chosen = select(attention_rows(), step.problem(keys), machine_of(DeviceKind::cpu));
      ASSERT_NE(chosen.row, nullptr);
      EXPECT_EQ(lab::roundings_of(*chosen.row, step.problem(keys))[0].activations,
                rounds && keys == Keys::packed ? Rounded::bf16 : Rounded::no)
          << name_of(precision) << ": " << chosen.row->name;
    }
  }
}

TEST(Attention, what_is_stored_rounded_is_the_same_rounded) {
  for (const int64_t head_dim : {4, 20, 64, 80}) {
    const Shape shape{.heads = 4, .kv_heads = 2, .head_dim = head_dim, .kv = DType::f32, .causal = false};
    const Sequence first(shape, 70, 152), second(shape, 9, 153);
    const Step step(shape, {{&first, 70, 70}, {&second, 9, 9}});
    testing::each_fast_row(attention_rows(), step.problem(Keys::packed), [&](const Row<Attention>& row) {
      testing::AttentionCase c = step.on(Keys::packed);
      if (!row.writes) return;
      std::vector<float> expected = testing::run(c, row, 2)[0].values;
      for (float& x : expected) x = float_from_bf16(bf16_from_float(x));
      c.problem.dst = row.writes(c.problem);
      EXPECT_EQ(testing::run(c, row, 2)[0].values, expected) << row.name;
      if (!row.reads) return;
      c.problem.src = row.reads(c.problem);
      EXPECT_EQ(testing::run(c, row, 2)[0].values, expected) << row.name << ", read rounded";
    });
  }
}

TEST(Attention, rounded_packed_rows_stay_inside_their_operands) {
  for (const int64_t head_dim : {4, 20, 32, 64, 80, 128}) {
    for (const int64_t length : {1, 31, 33, 63, 64, 65, 129}) {
      SCOPED_TRACE(std::to_string(length) + " x " + std::to_string(head_dim));
      const Shape shape{.heads = 6,
                        .kv_heads = 2,
                        .head_dim = head_dim,
                        .kv = DType::f32,
                        .causal = length % 2 == 0,
                        .precision = Precision::balanced};
      const Sequence sequence(shape, length, 130);
      const Step step(shape, {{&sequence, length, length}});
      testing::expect_rows_agree(step.on(Keys::packed), attention_rows());
    }
  }
}

// Elements larger than f16 holds, and products that are not.
TEST(Attention, packed_keys_and_values_of_any_size_are_finite) {
  Shape shape{.heads = 2, .kv_heads = 2, .kv = DType::f32, .causal = false};
  shape.precision = Precision::balanced;
  Sequence sequence(shape, 70, 140);
  for (float& x : sequence.query) x *= 1e-6F;
  for (float& x : sequence.key) x *= 1e6F;
  for (float& x : sequence.value) x *= 1e8F;
  const Step step(shape, {{&sequence, 70, 70}});
  testing::expect_rows_agree(step.on(Keys::packed), attention_rows(), testing::kOneGuard);
}

TEST(Attention, illegal_problems_are_refused_with_a_reason) {
  const Attention::Problem good = Step({}, {}).problem();
  for (const Row<Attention>& row : testing::all_rows(attention_rows())) {
    const auto reason = [&](auto change) {
      Attention::Problem problem = good;
      change(problem);
      return lab::refusal_of(row, problem);
    };
    EXPECT_NE(reason([](auto& p) { p.kv_heads = 3; }), "") << row.name;
    EXPECT_NE(reason([](auto& p) { p.kv = DType::q4_0; }), "") << row.name;
    EXPECT_NE(reason([](auto& p) { p.kv = DType::q8_0, p.head_dim = 80; }), "") << row.name;
    EXPECT_NE(reason([](auto& p) { p.head_dim = 0; }), "") << row.name;
    EXPECT_NE(reason([](auto& p) { p.keys = Keys::packed; }), "") << row.name;
    EXPECT_NE(reason([](auto& p) { p.window = -1; }), "") << row.name;
    EXPECT_NE(reason([](auto& p) { p.bias_reach = -1; }), "") << row.name;
    const auto fastmax_reason = [&](auto change) {
      return reason([&](auto& p) {
        p.kind = kFastmax;
        change(p);
      });
    };
    EXPECT_NE(fastmax_reason([](auto& p) { p.fastmax.p = 3; }), "") << row.name;
    EXPECT_NE(fastmax_reason([](auto& p) { p.fastmax.limit = 0; }), "") << row.name;
    EXPECT_NE(fastmax_reason([](auto& p) { p.fastmax.limit = 257; }), "") << row.name;
    EXPECT_NE(fastmax_reason([](auto& p) { p.fastmax.limit = NAN; }), "") << row.name;
    EXPECT_NE(fastmax_reason([](auto& p) { p.softcap = 2; }), "") << row.name;
    EXPECT_NE(fastmax_reason([](auto& p) { p.bias_reach = 4; }), "") << row.name;
  }
}

/// (tokens, kv_heads * head_dim) with the odd ones among floats in front.
std::vector<float> with_odd_numbers(std::vector<float> keys) {
  const float odd[] = {0.0F, -0.0F, 65519.0F, 65520.0F, -1e30F, 6e-8F, 2.9e-8F, 1e-40F, INFINITY, -INFINITY};
  std::copy_n(odd, std::min<size_t>(std::size(odd), keys.size()), keys.begin());
  return keys;
}

// The second sequence brings positions 3 to 11 of its 12; no byte of the others is written.
TEST(KvAppend, rows_write_the_reference_bits_and_nothing_else) {
  for (const DType kv : {DType::f32, DType::f16, DType::bf16, DType::q8_0}) {
    for (const int64_t head_dim : {1, 17, 64, 80}) {
      if (!row_bytes(kv, head_dim)) continue;
      const Shape shape{.heads = 3, .kv_heads = 3, .head_dim = head_dim, .kv = kv, .page_tokens = 5};
      Sequence sequence(shape, 41, 110);
      sequence.key = with_odd_numbers(sequence.key);
      if (kv == DType::bf16) {  // a NaN whose payload is cut off stays a NaN
        const uint32_t quiet_to_be = 0x7F800001;
        std::memcpy(&sequence.value[0], &quiet_to_be, sizeof quiet_to_be);
      }
      const Step written(shape, {{&sequence, 41, 41}, {&sequence, 9, 12}});
      std::vector<float> keys = sequence.key;
      std::vector<float> values = sequence.value;
      const int64_t width = shape.kv_heads * head_dim;
      keys.insert(keys.end(), sequence.key.begin() + 3 * width, sequence.key.begin() + 12 * width);
      values.insert(values.end(), sequence.value.begin() + 3 * width, sequence.value.begin() + 12 * width);
      const lab::KvAppendCase c(written.on(), keys, values);
      testing::expect_rows_agree(c, kv_append_rows());
      // What differs from pages that hold both sequences whole is at most the three unwritten positions.
      const std::vector<float> pages = lab::run_reference<lab::KvAppendCase>(c, kv_append_rows())[0].values;
      size_t different = 0;
      for (size_t i = 0; i < pages.size(); ++i)
        different += pages[i] != static_cast<float>(written.on().memory()[i]) ? 1 : 0;
      EXPECT_LE(different, 2 * 3 * static_cast<size_t>(shape.kv_heads) * row_bytes(kv, head_dim).value());
      EXPECT_GT(different, 0U);
    }
  }
}

// The sequence fills its one page, so that the last value ends where the memory ends.
TEST(KvAppend, rows_stay_inside_their_operands) {
  for (const DType kv : {DType::f32, DType::f16, DType::bf16, DType::q8_0}) {
    for (const int64_t head_dim : {1, 7, 17, 64, 80}) {
      if (!row_bytes(kv, head_dim)) continue;
      for (const int64_t length : {1, 31, 32}) {
        const Shape shape{.heads = 2, .kv_heads = 2, .head_dim = head_dim, .kv = kv, .page_tokens = length};
        const Sequence sequence(shape, length, 130);
        const Step written(shape, {{&sequence, length, length}});
        testing::expect_rows_agree(lab::KvAppendCase(written.on(), sequence.key, sequence.value),
                                   kv_append_rows());
      }
    }
  }
}

}  // namespace
}  // namespace orrery::kernels
