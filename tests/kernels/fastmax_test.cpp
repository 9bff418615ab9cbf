#include "kernels/fastmax.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "kernels/lab/fastmax_case.h"
#include "tests/kernels/differences.h"
#include "tests/kernels/row_testing.h"

namespace orrery::kernels {
namespace {

using lab::FastmaxBackwardCase;
using lab::FastmaxCase;
using lab::FastmaxShape;
using Dropping = Fastmax::Dropping;

/// Options are drawn; heads are so small, and texts so long, that some calls take either form.
FastmaxShape drawn_shape(std::mt19937& random) {
  const auto is = [&] { return random() % 2 == 0; };
  const auto one_of = [&](std::initializer_list<int64_t> values) {
    return values.begin()[random() % values.size()];
  };
  FastmaxShape shape;
  shape.batch = one_of({1, 2});
  shape.kv_heads = one_of({1, 2});
  shape.heads = shape.kv_heads * one_of({1, 3});
  shape.queries = one_of({1, 7, 64, 65, 130, 190});
  shape.keys = is() ? shape.queries : one_of({1, 5, 63, 64, 129, 200});
  shape.dim = one_of({1, 3, 4, 8, 15, 16, 17, 33, 64});
  shape.dtype =
      std::initializer_list<DType>{DType::f32, DType::f32, DType::f16, DType::bf16}.begin()[random() % 4];
  shape.p = is() ? 2 : 1;
  shape.causal = is();
  shape.normalise = is();
  shape.rpe = random() % 3 == 0;
  shape.dropping = random() % 3 == 0 ? Dropping::noise : Dropping::none;
  shape.noise = shape.dropping == Dropping::noise && is();
  shape.rate = shape.dropping == Dropping::noise ? 0.3 : 0.0;
  shape.a0 = 1.25F;
  shape.a1 = is() ? 1.0F : 0.5F;
  shape.a2 = is() ? 0.5F : 0.75F;
  shape.limit = is() ? 1.0F : 0.8F;
  shape.temperature = is() ? 1.0F : 1.5F;
  shape.size = shape.normalise ? 1.0F : 0.5F / std::sqrt(static_cast<float>(shape.dim));
  shape.interleaved = is();
  shape.seed = static_cast<uint32_t>(random());
  return shape;
}

std::string told(const FastmaxShape& shape) {
  return std::to_string(shape.batch) + "x" + std::to_string(shape.heads) + "/" +
         std::to_string(shape.kv_heads) + ", " + std::to_string(shape.queries) + " queries, " +
         std::to_string(shape.keys) + " keys of " + std::to_string(shape.dim) + " " +
         std::string(name_of(shape.dtype)) + ", p " + std::to_string(shape.p) +
         (shape.causal ? " causal" : "") + (shape.normalise ? " normalised" : "") + (shape.rpe ? " rpe" : "");
}

/// Rows whose names end so, whatever a form costs: those that take a long text of the case's type.
template <class Case>
std::vector<const Row<typename Case::Op>*> rows_called(std::span<const Row<typename Case::Op>> own,
                                                       std::string_view end, const Case& c) {
  auto longest = c.problem;
  Fastmax::Problem* problem = nullptr;
  if constexpr (requires { longest.forward; })
    problem = &longest.forward;
  else
    problem = &longest;
  problem->queries = problem->keys = 1'000'000;
  std::vector<const Row<typename Case::Op>*> found;
  for (const auto& row : testing::all_rows(own))
    if (row.name.ends_with(end) && lab::refusal_of(row, longest).empty()) found.push_back(&row);
  return found;
}

TEST(Fastmax, rows_agree_with_the_reference) {
  std::mt19937 random(1);
  for (int i = 0; i < 150; ++i) {
    const FastmaxShape shape = drawn_shape(random);
    SCOPED_TRACE(told(shape));
    testing::expect_rows_agree(FastmaxCase(shape), fastmax_rows(), testing::kOneGuard);
  }
}

TEST(Fastmax, gradients_agree_with_the_reference) {
  std::mt19937 random(2);
  for (int i = 0; i < 100; ++i) {
    const FastmaxShape shape = drawn_shape(random);
    SCOPED_TRACE(told(shape));
    testing::expect_rows_agree(FastmaxBackwardCase(shape), fastmax_backward_rows(), testing::kOneGuard);
  }
}

/// Texts of several blocks, and of 16 bits, which a card multiplies on tensor cores; scores that leave the
/// range of f16 as weights.
TEST(Fastmax, long_texts_of_16_bits_agree) {
  for (const DType dtype : {DType::f16, DType::bf16})
    for (const int64_t dim : {16, 40, 64, 128})
      for (const bool causal : {false, true}) {
        FastmaxShape shape{.heads = 2,
                           .queries = causal ? 300 : 150,
                           .keys = causal ? 200 : 330,
                           .dim = dim,
                           .dtype = dtype,
                           .causal = causal,
                           .dropping = dim == 40 ? Dropping::noise : Dropping::none,
                           .noise = causal,
                           .rate = dim == 40 ? 0.3 : 0.0};
        SCOPED_TRACE(told(shape));
        testing::expect_rows_agree(FastmaxCase(shape), fastmax_rows(), testing::kOneGuard);
        testing::expect_rows_agree(FastmaxBackwardCase(shape), fastmax_backward_rows(), testing::kOneGuard);
        shape.normalise = false;
        shape.dropping = Dropping::none;
        shape.noise = false;
        shape.size = 70.0F / std::sqrt(std::sqrt(static_cast<float>(dim)));
        testing::expect_rows_agree(FastmaxCase(shape), fastmax_rows(), testing::kOneGuard);
      }
}

/// Products of features that are dropped: only states take them.
TEST(Fastmax, dropped_features_agree_with_the_reference) {
  const auto expect_agreement = [](FastmaxShape shape) {
    shape.dropping = Dropping::features;
    shape.rate = 0.25;
    shape.a0 = 3.0F;
    SCOPED_TRACE(told(shape));
    testing::expect_rows_agree(FastmaxCase(shape), fastmax_rows(), testing::kOneGuard);
    testing::expect_rows_agree(FastmaxBackwardCase(shape), fastmax_backward_rows(), testing::kOneGuard);
  };
  for (const int p : {1, 2})
    for (const bool causal : {false, true}) {
      for (const auto& [queries, keys] : {std::pair<int64_t, int64_t>{70, 70}, {3, 130}, {130, 66}})
        expect_agreement({.batch = 2,
                          .heads = 2,
                          .kv_heads = 1,
                          .queries = queries,
                          .keys = keys,
                          .dim = 11,
                          .p = p,
                          .causal = causal});
      // Each size of a tile.
      for (const int64_t dim : {40, 65, 130})
        expect_agreement({.queries = 40, .keys = 50, .dim = dim, .p = p, .causal = causal, .rpe = dim == 65});
    }
  // Texts of some segments.
  for (const auto& [queries, keys] : {std::pair<int64_t, int64_t>{500, 500}, {300, 600}, {600, 300}})
    for (const DType dtype : {DType::f32, DType::f16, DType::bf16})
      expect_agreement({.heads = 2,
                        .kv_heads = 1,
                        .queries = queries,
                        .keys = keys,
                        .dim = 9,
                        .dtype = dtype,
                        .causal = true,
                        .interleaved = true});
}

/// Both forms of every vector width, on texts of some segments, for heads as they are in use.
TEST(Fastmax, both_forms_agree) {
  for (const int64_t dim : {16, 32, 64, 72, 128})
    for (const bool causal : {false, true})
      for (const auto& [queries, keys] : {std::pair<int64_t, int64_t>{700, 700}, {300, 1100}, {1100, 300}}) {
        if (dim > 64 && queries == keys) continue;  // the others are as many
        FastmaxShape shape{.heads = 2, .queries = queries, .keys = keys, .dim = dim, .causal = causal};
        if (testing::device_under_test() != nullptr) shape.dtype = DType::bf16;
        SCOPED_TRACE(told(shape));
        const FastmaxCase c(shape);
        lab::Oracle<FastmaxCase> oracle(c);
        for (const std::string_view form : {"direct", "factorised"}) {
          const auto rows = rows_called(fastmax_rows(), form, c);
          EXPECT_FALSE(rows.empty());
          for (const Row<Fastmax>* row : rows) {
            const lab::Agreement agreement = lab::compare(testing::run(c, *row), oracle.of(*row));
            EXPECT_TRUE(agreement.ok)
                << row->name << ": " << agreement.where << ", off by " << agreement.max_error;
          }
        }
        if (dim > 32 && testing::device_under_test() == nullptr) continue;
        const FastmaxBackwardCase back(shape);
        lab::Oracle<FastmaxBackwardCase> of_gradients(back);
        for (const std::string_view form : {"direct", "factorised"})
          for (const Row<FastmaxBackward>* row : rows_called(fastmax_backward_rows(), form, back)) {
            const lab::Agreement agreement = lab::compare(testing::run(back, *row), of_gradients.of(*row));
            EXPECT_TRUE(agreement.ok)
                << row->name << ": " << agreement.where << ", off by " << agreement.max_error;
          }
      }
}

// ---- gradients against differences of the forward formula ----

/// One batch of a few heads in float64, and what the loss weighs its results with.
struct FastmaxModel {
  FastmaxShape shape;
  std::vector<double> query, key, value, rpe, noise, of_out;

  size_t at(int64_t head, int64_t tokens, int64_t token) const {
    return static_cast<size_t>((head * tokens + token) * shape.dim);
  }
  double dot(const double* a, const double* b) const {
    double sum = 0;
    for (int64_t d = 0; d < shape.dim; ++d) sum += a[d] * b[d];
    return sum;
  }
  double factor(const std::vector<double>& rows, int64_t head, int64_t tokens) const {
    double longest = 0;
    for (int64_t t = 0; t < tokens; ++t)
      longest = std::max(longest, std::sqrt(dot(&rows[at(head, tokens, t)], &rows[at(head, tokens, t)])));
    return shape.normalise ? shape.limit / longest : 1.0;
  }
  /// Of one kind of mask; 1 where features are not dropped.
  double stays(uint32_t stream, int64_t row, int64_t feature) const {
    if (shape.dropping != Dropping::features) return 1;
    return Dropout(shape.rate, shape.seed, stream).keeps(row, feature) ? 1 / (1 - shape.rate) : 0.0;
  }
  /// f of query i and key j, feature by feature.
  double weight(const double* q, const double* k, int64_t query_row, int64_t key_row) const {
    double sum = shape.a0;
    int64_t feature = 0;
    for (int64_t m = 0; m < shape.dim; ++m) {
      const double both =
          shape.p == 1 ? stays(Fastmax::kQueryStream, query_row, m) * stays(Fastmax::kKeyStream, key_row, m)
                       : 1.0;
      sum += shape.a1 * both * q[m] * k[m];
    }
    for (int64_t m = 0; shape.p == 2 && m < shape.dim; ++m)
      for (int64_t n = m; n < shape.dim; ++n, ++feature)
        sum += (n > m ? 2 : 1) * shape.a2 * stays(Fastmax::kQueryStream, query_row, feature) *
               stays(Fastmax::kKeyStream, key_row, feature) * q[m] * k[m] * q[n] * k[n];
    return sum;
  }
  double loss() const {
    double loss = 0;
    std::vector<double> q(static_cast<size_t>(shape.dim)), k(q);
    for (int64_t h = 0; h < shape.heads; ++h) {
      const int64_t kv = h / (shape.heads / shape.kv_heads);
      const double of_query = factor(query, h, shape.queries), of_key = factor(key, kv, shape.keys);
      for (int64_t i = 0; i < shape.queries; ++i) {
        std::vector<double> sums(static_cast<size_t>(shape.dim));
        double total = 0;
        for (int64_t d = 0; d < shape.dim; ++d)
          q[static_cast<size_t>(d)] = of_query * query[at(h, shape.queries, i) + static_cast<size_t>(d)];
        for (int64_t j = 0; j < shape.keys; ++j) {
          if (shape.causal && j > i + shape.keys - shape.queries) continue;
          const auto row = static_cast<size_t>((j + shape.keys) % (2 * shape.keys - 1) * shape.dim);
          for (size_t d = 0; d < k.size(); ++d)
            k[d] = of_key / shape.temperature * key[at(kv, shape.keys, j) + d] +
                   (shape.rpe ? rpe[row + d] : 0.0);
          const double w = weight(q.data(), k.data(), h * shape.queries + i, kv * shape.keys + j);
          total += w;
          for (size_t d = 0; d < k.size(); ++d) sums[d] += w * value[at(kv, shape.keys, j) + d];
        }
        for (size_t d = 0; total != 0 && d < sums.size(); ++d) {
          const size_t place = at(h, shape.queries, i) + d;
          loss += of_out[place] * sums[d] / total * (shape.noise ? 1 + shape.rate * noise[place] : 1.0);
        }
      }
    }
    return loss;
  }
};

std::vector<double> doubles(const std::vector<std::byte>& elements) {
  const std::vector<float> floats = lab::as_floats(DType::f32, elements);
  return {floats.begin(), floats.end()};
}

void expect_gradients(const FastmaxShape& shape) {
  SCOPED_TRACE(told(shape));
  const lab::FastmaxOperands operands(shape, lab::Distribution::normal);
  const FastmaxModel model{shape,
                           doubles(operands.query),
                           doubles(operands.key),
                           doubles(operands.value),
                           doubles(operands.rpe),
                           doubles(operands.noise),
                           doubles(operands.grad_out)};
  const FastmaxBackwardCase c(shape);
  const std::vector<lab::Output> outputs = lab::run_reference(c, fastmax_backward_rows());
  std::vector<double> FastmaxModel::*const by[] = {&FastmaxModel::query, &FastmaxModel::key,
                                                   &FastmaxModel::value, &FastmaxModel::rpe};
  for (size_t o = 0; o < outputs.size(); ++o)
    testing::expect_close_to(outputs[o].values, testing::differences(model, by[o]), 2e-6, outputs[o].name);
}

TEST(FastmaxGradients, are_those_of_the_forward_formula) {
  for (const int p : {1, 2})
    for (const bool normalise : {false, true})
      for (const bool causal : {false, true})
        expect_gradients({.heads = 2,
                          .kv_heads = 1,
                          .queries = 5,
                          .keys = 7,
                          .dim = 4,
                          .p = p,
                          .causal = causal,
                          .normalise = normalise,
                          .rpe = true,
                          .a0 = 2.0F,
                          .limit = 0.9F,
                          .temperature = 1.3F,
                          .size = 0.5F});
}

/// Defect of the original: the backward call reads what noise was multiplied to.
TEST(FastmaxGradients, of_noise_and_of_lengths) {
  expect_gradients({.queries = 6,
                    .keys = 6,
                    .dim = 3,
                    .normalise = true,
                    .dropping = Dropping::noise,
                    .noise = true,
                    .rate = 0.5});
}

/// Defect of the original: gradients of keys are wrong where queries are fewer.
TEST(FastmaxGradients, of_causal_keys_beside_fewer_and_more_queries) {
  expect_gradients({.queries = 3, .keys = 8, .dim = 3, .causal = true});
  expect_gradients({.queries = 8, .keys = 3, .dim = 3, .causal = true});
}

TEST(FastmaxGradients, of_dropped_features) {
  for (const int p : {1, 2})
    expect_gradients({.heads = 2,
                      .kv_heads = 1,
                      .queries = 4,
                      .keys = 5,
                      .dim = 4,
                      .p = p,
                      .dropping = Dropping::features,
                      .rate = 0.3,
                      .a0 = 4.0F});
}

// ---- what the authors' code gets wrong: each row is asked ----

/// Floats of a call on operands that the test made, one batch and head.
struct OneHead {
  int64_t dim = 1;
  std::vector<float> query = {}, key = {}, value = {};
  int p = 2;
  bool causal = false, normalise = false;
  float a0 = 1.0F, a1 = 1.0F, a2 = 0.5F, limit = 1.0F, temperature = 1.0F;

  /// Defect of the original: operands are scaled where they lie. Bits are compared, as NaN is none.
  static void expect_unchanged(lab::Place& place, const void* memory, const std::vector<float>& before,
                               std::string_view row) {
    const std::vector<float> after = place.get(static_cast<const float*>(memory), before.size());
    EXPECT_EQ(std::memcmp(after.data(), before.data(), before.size() * sizeof(float)), 0) << row;
  }
  std::vector<float> run(const Row<Fastmax>& row, int threads = 1) const {
    const auto tokens = [&](const std::vector<float>& rows) {
      return static_cast<int64_t>(rows.size()) / dim;
    };
    ThreadTeam team(threads);
    testing::GuardedPlace place(team, testing::placed(row, testing::Guard::after));
    Fastmax::Args args;
    args.problem = {.head_dim = dim,
                    .p = p,
                    .causal = causal,
                    .normalise = normalise,
                    .queries = tokens(query),
                    .keys = tokens(key)};
    args.batch = 1;
    args.queries = args.problem.queries;
    args.keys = args.problem.keys;
    args.query = place.put(query);
    args.key = place.put(key);
    args.value = place.put(value);
    float* out = place.put(std::vector<float>(query.size(), 7.0F));
    args.out = out;
    args.query_strides = args.out_strides = {0, 0, dim};
    args.key_strides = args.value_strides = {0, 0, dim};
    args.a0 = a0;
    args.a1 = a1;
    args.a2 = a2;
    args.limit = limit;
    args.temperature = temperature;
    row.run(args, place.launch(lab::put_workspace(row, args.problem, place)));
    place.wait();
    expect_unchanged(place, args.query, query, row.name);
    expect_unchanged(place, args.key, key, row.name);
    expect_unchanged(place, args.value, value, row.name);
    return place.get(out, query.size());
  }
};

/// body(row) of every row that takes float32, of either form.
template <class Body>
void each_row(Body&& body) {
  const FastmaxCase any({.queries = 1, .keys = 1, .dim = 16});
  for (const std::string_view end : {"factorised", "direct", "general", "reference"})
    for (const Row<Fastmax>* row : rows_called(fastmax_rows(), end, any)) {
      SCOPED_TRACE(std::string(row->name));
      body(*row);
    }
}

void expect_near(const std::vector<float>& actual, const std::vector<float>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i)
    EXPECT_NEAR(actual[i], expected[i], 2e-5F * std::max(1.0F, std::abs(expected[i]))) << i;
}

TEST(FastmaxDefects, the_square_counts) {
  each_row([](const Row<Fastmax>& row) {
    // Weights of 1: 1 + 1 + 1/2, of -2: 1 - 2 + 2; without the square 2 and -1.
    OneHead head{.query = {1}, .key = {1, -2}, .value = {1, 10}};
    expect_near(head.run(row), {(2.5F * 1 + 1 * 10) / 3.5F});
    head.p = 1;
    expect_near(head.run(row), {2.0F * 1 - 1 * 10});
    head.p = 2;
    head.temperature = 2;
    expect_near(head.run(row), {(1.625F * 1 + 0.5F * 10) / 2.125F});
  });
}

TEST(FastmaxDefects, heads_of_any_size) {
  for (const int64_t dim : {1, 2, 31, 63, 64, 65, 96, 100, 128, 160, 200, 255, 256})
    for (const int p : {1, 2}) {
      SCOPED_TRACE(dim);
      testing::expect_rows_agree(FastmaxCase({.queries = 9, .keys = 13, .dim = dim, .p = p}), fastmax_rows(),
                                 testing::kOneGuard);
    }
}

/// The root of the squares, and no least length.
TEST(FastmaxDefects, rows_are_divided_by_the_longest_length) {
  each_row([](const Row<Fastmax>& row) {
    const OneHead measured{.dim = 2,
                           .query = {3, 4, 0, 1},
                           .key = {0.006F, 0.008F, -0.004F, 0, 0, 0.001F},
                           .value = {1, 2, 3, 4, 5, 6},
                           .normalise = true,
                           .limit = 2};
    OneHead by_hand = measured;
    by_hand.normalise = false;
    for (float& x : by_hand.query) x *= 2.0F / 5;
    for (float& x : by_hand.key) x *= 2.0F / 0.01F;
    expect_near(measured.run(row), by_hand.run(row));
  });
}

TEST(FastmaxDefects, queries_are_measured_by_themselves) {
  each_row([](const Row<Fastmax>& row) {
    OneHead head{.dim = 2,
                 .query = {1, 2},
                 .key = {1, 0, 0, 3, 1, 1, 2, 0},
                 .value = {1, 2, 3, 4, 5, 6, 7, 8},
                 .normalise = true};
    const std::vector<float> before = head.run(row);
    for (float& x : head.key) x *= 100;
    expect_near(head.run(row), before);
    for (float& x : head.query) x *= 0.01F;
    expect_near(head.run(row), before);
  });
}

TEST(FastmaxDefects, short_and_uneven_texts_are_normalised) {
  for (const int64_t tokens : {1, 3, 127, 129, 200})
    testing::expect_rows_agree(FastmaxCase({.queries = tokens, .keys = tokens, .dim = 8, .size = 7.0F}),
                               fastmax_rows(), testing::kOneGuard);
}

TEST(FastmaxDefects, heads_lie_where_strides_say) {
  const FastmaxShape shape{
      .batch = 2, .heads = 4, .kv_heads = 2, .queries = 33, .keys = 20, .dim = 8, .interleaved = true};
  testing::expect_rows_agree(FastmaxCase(shape), fastmax_rows());
  testing::expect_rows_agree(FastmaxBackwardCase(shape), fastmax_backward_rows());
}

TEST(FastmaxDefects, the_constant_is_in_the_denominator) {
  each_row([](const Row<Fastmax>& row) {
    OneHead head{.query = {0.25F}, .key = {1, 2, 3}, .value = {3, 6, 12}, .a0 = 1e6F};
    expect_near(head.run(row), {7});
    head.a0 = 0;  // weights 0.25 (1 + 0.125), ..
    const float w1 = 0.25F + 0.03125F, w2 = 0.5F + 0.125F, w3 = 0.75F + 0.28125F;
    expect_near(head.run(row), {(3 * w1 + 6 * w2 + 12 * w3) / (w1 + w2 + w3)});
  });
}

TEST(FastmaxDefects, the_same_call_gives_the_same_bits) {
  const FastmaxShape shape{
      .batch = 1, .heads = 3, .kv_heads = 3, .queries = 300, .keys = 300, .dim = 12, .causal = true};
  const FastmaxCase forward(shape);
  testing::each_fast_row(fastmax_rows(), forward.problem, [&](const Row<Fastmax>& row) {
    const std::vector<float> once = testing::run(forward, row, 1)[0].values;
    for (const int threads : {1, 2, 3}) EXPECT_EQ(testing::run(forward, row, threads)[0].values, once);
  });
  const FastmaxBackwardCase backward(shape);
  testing::each_fast_row(fastmax_backward_rows(), backward.problem, [&](const Row<FastmaxBackward>& row) {
    const auto once = testing::run(backward, row, 1);
    for (const int threads : {1, 2, 3}) {
      const auto again = testing::run(backward, row, threads);
      for (size_t o = 0; o < once.size(); ++o) EXPECT_EQ(again[o].values, once[o].values) << once[o].name;
    }
  });
}

TEST(FastmaxDefects, queries_that_see_nothing_give_zeros) {
  each_row([](const Row<Fastmax>& row) {
    const OneHead head{.query = {1, 1, 1}, .key = {1}, .value = {5}, .causal = true};
    EXPECT_EQ(head.run(row), (std::vector<float>{0, 0, 5}));
  });
}

// ---- NaN, and zeros ----

TEST(Fastmax, nan_stays_where_the_formula_takes_it) {
  each_row([](const Row<Fastmax>& row) {
    OneHead head{.dim = 2,
                 .query = {1, 0, 0, 1, 1, 1},
                 .key = {1, 2, 0, 1, 1, 0},
                 .value = {1, 2, 3, NAN, 5, 6},
                 .causal = true};
    std::vector<float> out = head.run(row);
    for (const size_t i : {0U, 2U, 4U}) EXPECT_TRUE(std::isfinite(out[i])) << i;
    for (const size_t i : {3U, 5U}) EXPECT_TRUE(std::isnan(out[i])) << i;
    head.value[3] = 4;
    head.key[4] = NAN;  // the last key: of the last query alone
    out = head.run(row);
    for (size_t i = 0; i < 6; ++i) EXPECT_EQ(std::isnan(out[i]), i >= 4) << i;
  });
}

TEST(Fastmax, a_text_of_zeros_is_averaged) {
  each_row([](const Row<Fastmax>& row) {
    const OneHead head{.query = {0, 0}, .key = {0, 0}, .value = {1, 3}, .normalise = true};
    EXPECT_EQ(head.run(row), (std::vector<float>{2, 2}));
  });
}

// ---- noise ----

TEST(FastmaxNoise, is_normally_distributed_and_the_same_in_every_row) {
  constexpr int64_t kRows = 2000, kCols = 50;
  double sum = 0, squares = 0, fourth = 0;
  for (int64_t r = 0; r < kRows; ++r)
    for (int64_t c = 0; c < kCols; ++c) {
      const auto x = normal_noise<double>(42, r, c);
      EXPECT_NEAR(normal_noise<float>(42, r, c), x, 1e-5);
      sum += x;
      squares += x * x;
      fourth += x * x * x * x;
    }
  const double count = kRows * kCols;
  EXPECT_NEAR(sum / count, 0, 4 / std::sqrt(count));
  EXPECT_NEAR(squares / count, 1, 4 * std::sqrt(2 / count));
  EXPECT_NEAR(fourth / count, 3, 4 * std::sqrt(96 / count));
}

TEST(Fastmax, weights_that_may_fall_below_zero_are_known) {
  Fastmax::Problem problem{.p = 2};
  EXPECT_FALSE(Fastmax::may_be_negative(problem, 1, 1, 0.5, 1, 1));
  EXPECT_TRUE(Fastmax::may_be_negative(problem, 1, 1, 0.25, 1, 1));
  EXPECT_TRUE(Fastmax::may_be_negative(problem, -1, 0, -1, 1, 1));
  problem.p = 1;
  EXPECT_FALSE(Fastmax::may_be_negative(problem, 1, 1, 0, 1, 1));
  EXPECT_TRUE(Fastmax::may_be_negative(problem, 1, 1, 0, 1.1, 1));
  EXPECT_FALSE(Fastmax::may_be_negative(problem, 1, 1, 0, 1.1, 2));
  problem.normalise = false;
  EXPECT_TRUE(Fastmax::may_be_negative(problem, 1, 1, 0, 1, 1));
}

TEST(Fastmax, what_no_row_takes) {
  EXPECT_NE(ref::legal(Fastmax::Problem{.dtype = DType::i32}), "");
  EXPECT_NE(ref::legal(Fastmax::Problem{.head_dim = 257}), "");
  EXPECT_NE(ref::legal(Fastmax::Problem{.p = 3}), "");
  EXPECT_NE(ref::legal(Fastmax::Problem{.heads = 4, .kv_heads = 3}), "");
  EXPECT_EQ(ref::legal(Fastmax::Problem{.heads = 4, .kv_heads = 2}), "");
}

}  // namespace
}  // namespace orrery::kernels
