// Attention over tensors of operands that a test makes: what is not finite, masks, lengths, what is not asked
// for. flash_attention_test.cpp has problems of the lab.
#include "kernels/flash_attention.h"

#include <cmath>

#include "kernels/half.h"
#include "kernels/lab/flash_attention_case.h"
#include "kernels/lab/stored.h"
#include "tests/kernels/row_testing.h"

namespace orrery::kernels {
namespace {

using lab::FlashBackwardCase;
using lab::FlashCase;
using lab::FlashShape;
using lab::Output;
using Floats = std::vector<float>;

constexpr DType kFloatTypes[] = {DType::f32, DType::bf16, DType::f16};
constexpr float kInfinity = INFINITY;

struct Results {
  Floats out, log_sum_exp;
};
struct Gradients {
  Floats query, key, value, bias;
};

/// Tensors without gaps, as float32 or rounded to the type of the problem.
struct Tensors {
  FlashAttention::Problem problem;
  Floats query, key, value, grad_out, bias;
  std::vector<uint8_t> mask;
  std::vector<int32_t> query_lengths, key_lengths;
  float scale = 0.25F;
  Dropout dropout = {};

  Tensors(int64_t heads, int64_t kv_heads, int64_t queries, int64_t keys, int64_t dim,
          DType dtype = DType::f32, int64_t batch = 1) {
    problem.dtype = problem.bias = dtype;
    problem.heads = heads;
    problem.kv_heads = kv_heads;
    problem.head_dim = dim;
    problem.batch = batch;
    problem.queries = queries;
    problem.keys = keys;
    const auto of_queries = static_cast<size_t>(batch * heads * queries * dim),
               of_keys = static_cast<size_t>(batch * kv_heads * keys * dim);
    query = testing::random_floats(of_queries, 1);
    key = testing::random_floats(of_keys, 2);
    value = testing::random_floats(of_keys, 3);
    grad_out = testing::random_floats(of_queries, 4);
  }
  size_t dim() const { return static_cast<size_t>(problem.head_dim); }
  void fill(Floats& tensor, int64_t row, float with) const {
    std::fill_n(tensor.begin() + row * problem.head_dim, problem.head_dim, with);
  }
  HeadStrides strides(int64_t heads, int64_t tokens) const {
    return {heads * tokens * problem.head_dim, tokens * problem.head_dim, problem.head_dim};
  }
  void* put(lab::Place& place, const Floats& values) const {
    const std::vector<std::byte> bytes = lab::stored(problem.dtype, values);
    return place.put(bytes.data(), bytes.size(), 16);
  }
  Floats get(lab::Place& place, const void* memory, size_t count) const {
    const size_t bytes = row_bytes(problem.dtype, static_cast<int64_t>(count)).value_or(0);
    return lab::as_floats(problem.dtype, place.get(static_cast<const std::byte*>(memory), bytes));
  }
  size_t rows() const { return static_cast<size_t>(problem.batch * problem.heads * problem.queries); }

  /// With what follows from the operands that there are.
  FlashAttention::Problem whole_problem() const {
    FlashAttention::Problem whole = problem;
    whole.has_bias = !bias.empty();
    whole.has_mask = !mask.empty();
    whole.drops = dropout.drops();
    whole.has_lengths = !query_lengths.empty() || !key_lengths.empty();
    return whole;
  }
  FlashAttention::Args args(lab::Place& place, const Results& results) const {
    const int64_t keys = problem.keys, queries = problem.queries;
    FlashAttention::Args args;
    args.problem = whole_problem();
    args.batch = problem.batch;
    args.queries = queries;
    args.keys = keys;
    args.query = put(place, query);
    args.key = put(place, key);
    args.value = put(place, value);
    args.query_strides = args.out_strides = strides(problem.heads, queries);
    args.key_strides = args.value_strides = strides(problem.kv_heads, keys);
    args.bias = bias.empty() ? nullptr : put(place, bias);
    args.bias_strides = args.mask_strides = {problem.heads * queries * keys, queries * keys, keys, 1};
    args.mask = lab::put_or_null(mask, place);
    args.query_lengths = lab::put_or_null(query_lengths, place);
    args.key_lengths = lab::put_or_null(key_lengths, place);
    args.out = put(place, results.out);
    args.log_sum_exp = place.put(results.log_sum_exp);
    args.scale = scale;
    args.dropout = dropout;
    return args;
  }
  Results forward(const Row<FlashAttention>& row, int threads = 2) const {
    ThreadTeam team(threads);
    testing::GuardedPlace place(team, testing::placed(row, testing::Guard::after));
    const auto call = args(place, {Floats(query.size(), 7.0F), Floats(rows(), 7.0F)});
    row.run(call, place.launch(lab::put_workspace(row, call.problem, place)));
    place.wait();
    return {get(place, call.out, query.size()), place.get(call.log_sum_exp, rows())};
  }
  /// Of the reference.
  Results forward() const {
    const auto call_of_host = flash_attention_rows().back();
    ThreadTeam team(1);
    lab::HostPlace place(team);
    const auto call = args(place, {Floats(query.size()), Floats(rows())});
    call_of_host.run(call, place.launch(nullptr));
    return {get(place, call.out, query.size()), place.get(call.log_sum_exp, rows())};
  }
  Gradients backward(const Row<FlashAttentionBackward>& row, const Results& results, int threads = 2) const {
    ThreadTeam team(threads);
    testing::GuardedPlace place(team, testing::placed(row, testing::Guard::after));
    const size_t scores = rows() * static_cast<size_t>(problem.keys);
    FlashAttentionBackward::Args call;
    call.forward = args(place, results);
    call.problem = {call.forward.problem, true};
    call.grad_out = put(place, grad_out);
    call.grad_out_strides = call.forward.out_strides;
    call.grad_query = put(place, Floats(query.size(), 7.0F));
    call.grad_key = put(place, Floats(key.size(), 7.0F));
    call.grad_value = put(place, Floats(key.size(), 7.0F));
    call.grad_bias = place.put(Floats(scores, 7.0F));
    row.run(call, place.launch(lab::put_workspace(row, call.problem, place)));
    place.wait();
    return {get(place, call.grad_query, query.size()), get(place, call.grad_key, key.size()),
            get(place, call.grad_value, key.size()), place.get(call.grad_bias, scores)};
  }
};

template <class Body>
void each_forward(const Tensors& tensors, Body&& body) {
  for (const Row<FlashAttention>& row : testing::all_rows(flash_attention_rows())) {
    if (!lab::refusal_of(row, tensors.whole_problem()).empty()) continue;
    SCOPED_TRACE(std::string(row.name));
    body(row);
  }
}
template <class Body>
void each_backward(const Tensors& tensors, Body&& body) {
  for (const Row<FlashAttentionBackward>& row : testing::all_rows(flash_attention_backward_rows())) {
    if (!lab::refusal_of(row, {tensors.whole_problem(), true}).empty()) continue;
    SCOPED_TRACE(std::string(row.name));
    body(row);
  }
}

void expect_close(const Floats& actual, const Floats& expected, double tolerance, const char* what) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  for (size_t i = 0; i < actual.size(); ++i) {
    if (actual[i] == expected[i] || (std::isnan(actual[i]) && std::isnan(expected[i]))) continue;
    ASSERT_NEAR(actual[i], expected[i], tolerance * std::max(1.0, std::abs(static_cast<double>(expected[i]))))
        << what << " " << i;
  }
}

void expect_same_results(const Tensors& tensors) {
  const double tolerance = tensors.problem.dtype == DType::f32 ? 2e-5 : 2e-2;
  const Results expected = tensors.forward();
  const Gradients gradients = tensors.backward(flash_attention_backward_rows().back(), expected);
  each_forward(tensors, [&](const Row<FlashAttention>& row) {
    const Results results = tensors.forward(row);
    expect_close(results.out, expected.out, tolerance, "out");
    expect_close(results.log_sum_exp, expected.log_sum_exp, 2e-5, "log_sum_exp");
  });
  each_backward(tensors, [&](const Row<FlashAttentionBackward>& row) {
    const Gradients got = tensors.backward(row, expected);
    expect_close(got.query, gradients.query, tolerance, "grad_query");
    expect_close(got.key, gradients.key, tolerance, "grad_key");
    expect_close(got.value, gradients.value, tolerance, "grad_value");
    expect_close(got.bias, gradients.bias, tolerance, "grad_bias");
  });
}

TEST(FlashAttentionCalls, a_query_that_sees_nothing_gives_zeros) {
  for (const DType dtype : {DType::f32, DType::bf16})
    for (int way = 0; way < 5; ++way) {
      SCOPED_TRACE("way " + std::to_string(way));
      Tensors tensors(2, 1, 20, 9, 16, dtype);
      const bool all = way == 1 || way == 2 || way == 3;
      if (way == 0) tensors.problem.causal = true;  // the first 11 queries are before the first key
      if (way == 1) tensors.key_lengths = {0};
      if (way == 2) tensors.mask.assign(2 * 20 * 9, 0);
      if (way == 3) tensors.bias.assign(2 * 20 * 9, -kInfinity);
      if (way == 4) tensors.query_lengths = {9};  // rows 9 to 19 are past the last query
      const Floats zeros(11 * 16), nothing(11, -kInfinity);
      const auto blind = [&](const Floats& rows, size_t width) {
        const auto begin = rows.begin() + static_cast<std::ptrdiff_t>(way == 4 ? 9 * width : 0);
        return Floats(begin, begin + static_cast<std::ptrdiff_t>(11 * width));
      };
      each_forward(tensors, [&](const Row<FlashAttention>& row) {
        const Results results = tensors.forward(row);
        EXPECT_EQ(blind(results.out, 16), zeros);
        EXPECT_EQ(blind(results.log_sum_exp, 1), nothing);
      });
      each_backward(tensors, [&](const Row<FlashAttentionBackward>& row) {
        const Gradients gradients = tensors.backward(row, tensors.forward());
        EXPECT_EQ(blind(gradients.query, 16), zeros);
        EXPECT_EQ(blind(gradients.bias, 9), Floats(11 * 9));
        if (all) {
          EXPECT_EQ(gradients.key, Floats(9 * 16));
          EXPECT_EQ(gradients.value, Floats(9 * 16));
        }
      });
      expect_same_results(tensors);
    }
}

TEST(FlashAttentionCalls, what_is_not_finite_reaches_those_that_see_it_alone) {
  for (const DType dtype : {DType::f32, DType::bf16})
    for (const float broken : {NAN, kInfinity})
      for (int which = 0; which < 4; ++which) {
        SCOPED_TRACE("operand " + std::to_string(which) + " has " + std::to_string(broken));
        Tensors tensors(1, 1, 70, 70, 16, dtype);
        tensors.problem.causal = true;
        Floats* const operands[] = {&tensors.query, &tensors.key, &tensors.value, &tensors.grad_out};
        tensors.fill(*operands[which], 40, broken);
        const auto finite = [](const Floats& values, size_t begin, size_t end) {
          for (size_t i = begin * 16; i < end * 16; ++i)
            ASSERT_TRUE(std::isfinite(values[i])) << "row " << i / 16;
        };
        each_forward(tensors, [&](const Row<FlashAttention>& row) {
          const Results results = tensors.forward(row);
          finite(results.out, 0, 40);
          if (which == 0) finite(results.out, 41, 70);
          const size_t reached = which == 0 ? 40 : 69;
          EXPECT_EQ(std::isfinite(results.out[reached * 16]), which == 3);
        });
        each_backward(tensors, [&](const Row<FlashAttentionBackward>& row) {
          const Gradients gradients = tensors.backward(row, tensors.forward());
          finite(gradients.query, 0, 40);
          if (which == 0 || which == 3) {
            finite(gradients.query, 41, 70);
            finite(gradients.key, 41, 70);
            finite(gradients.value, 41, 70);
            EXPECT_FALSE(std::isfinite(gradients.value[size_t{40} * 16]));
          }
        });
      }
}

/// Nothing past the given lengths is read, and lengths that are negative or too long are clamped.
TEST(FlashAttentionCalls, lengths_of_any_value) {
  for (const DType dtype : {DType::f32, DType::bf16}) {
    Tensors tensors(2, 2, 40, 70, 16, dtype, 3);
    tensors.query_lengths = {30, -7, 1000};
    tensors.key_lengths = {50, 1000, 2'000'000'000};
    for (int64_t head = 0; head < 2; ++head) {
      for (int64_t query = 30; query < 40; ++query) {
        tensors.fill(tensors.query, head * 40 + query, NAN);
        tensors.fill(tensors.grad_out, head * 40 + query, NAN);
      }
      for (int64_t key = 50; key < 70; ++key) {
        tensors.fill(tensors.key, head * 70 + key, NAN);
        tensors.fill(tensors.value, head * 70 + key, NAN);
      }
    }
    each_forward(tensors, [&](const Row<FlashAttention>& row) {
      for (const float value : tensors.forward(row).out) ASSERT_TRUE(std::isfinite(value));
    });
    for (const bool causal : {false, true}) {
      tensors.problem.causal = causal;
      expect_same_results(tensors);
    }
  }
}

/// Of keys that blocks of a card share, where some blocks have none or what is no number.
TEST(FlashAttentionCalls, what_is_not_finite_and_lengths_of_very_many_keys) {
  for (const DType dtype : {DType::f16, DType::bf16})
    for (int way = 0; way < 4; ++way) {
      SCOPED_TRACE("way " + std::to_string(way));
      Tensors tensors(4, 2, 1, 1500, 64, dtype, 3);
      if (way == 0) tensors.key_lengths = {0, 130, 1400};
      if (way == 1) tensors.fill(tensors.value, 1234, kInfinity);
      if (way == 2) tensors.fill(tensors.key, 2 * 1500 + 17, NAN);
      if (way == 3) tensors.fill(tensors.query, 5, kInfinity);
      expect_same_results(tensors);
    }
}

TEST(FlashAttentionCalls, windows_of_any_size) {
  for (const int64_t left : {int64_t{0}, int64_t{3}, INT64_MAX})
    for (const int64_t right : {int64_t{0}, int64_t{5}, INT64_MAX}) {
      Tensors tensors(1, 1, 66, 70, 8);
      tensors.problem.window_left = left;
      tensors.problem.window_right = right;
      expect_same_results(tensors);
    }
}

// ---- the same bits ----

TEST(FlashAttentionCalls, the_same_bits_each_time_however_many_threads_there_are) {
  for (const DType dtype : kFloatTypes)
    for (const FlashShape& shape : {FlashShape{.batch = 2,
                                   .heads = 4,
                                   .kv_heads = 2,
                                   .queries = 150,
                                   .keys = 200,
                                   .head_dim = 40,
                                   .dtype = dtype,
                                   .causal = true,
                                   .bias = true,
                                   .p = 0.1},
                                    FlashShape{.heads = 8, .kv_heads = 1, .keys = 700, .dtype = dtype}}) {
      const auto expect_same_bits = [](const auto& c, const auto rows) {
        testing::each_fast_row(rows, c.problem, [&](const auto& row) {
          const std::vector<Output> once = testing::run(c, row, 1);
          for (const int threads : {1, 2, 3}) {
            const std::vector<Output> again = testing::run(c, row, threads);
            for (size_t i = 0; i < once.size(); ++i)
              EXPECT_EQ(again[i].values, once[i].values) << once[i].name;
          }
        });
      };
      expect_same_bits(FlashCase(shape), flash_attention_rows());
      expect_same_bits(FlashBackwardCase(shape), flash_attention_backward_rows());
    }
}

/// Queries of zeros weigh all keys alike, and the values are the rows of a unit matrix: out shows the mask.
TEST(FlashAttentionCalls, the_mask_of_the_dropout_depends_on_seed_row_and_column_only) {
  constexpr int64_t kHeads = 2, kQueries = 37, kKeys = 150;
  for (const DType dtype : {DType::f32, DType::bf16})
    for (const double p : {0.1, 0.5, 0.9}) {
      Tensors tensors(kHeads, 1, kQueries, kKeys, kKeys, dtype, 2);
      std::fill(tensors.query.begin(), tensors.query.end(), 0.0F);
      for (size_t i = 0; i < tensors.value.size(); ++i)
        tensors.value[i] = i % kKeys == i / kKeys % kKeys ? 1.0F : 0.0F;
      tensors.dropout = Dropout(p, 0x123456789abcdefULL, Dropout::kAttentionStream);
      std::vector<bool> expected;
      for (int64_t row = 0; row < 2 * kHeads * kQueries; ++row)
        for (int64_t col = 0; col < kKeys; ++col) expected.push_back(tensors.dropout.keeps(row, col));
      each_forward(tensors, [&](const Row<FlashAttention>& row) {
        for (const int threads : {1, 3}) {
          const Floats out = tensors.forward(row, threads).out;
          std::vector<bool> kept;
          for (const float value : out) kept.push_back(value > 0);
          EXPECT_EQ(kept, expected);
        }
      });
    }
}

// ---- the formula ----

/// Attention in float64, of one batch, from its definition; and what a loss weighs its results with.
struct Model {
  size_t heads = 2, queries = 5, keys = 7, dim = 3;
  bool causal = false;
  double scale = 0.7, softcap = 0;
  Dropout dropout = {};
  std::vector<double> query, key, value, bias, of_out;

  double score(size_t head, size_t i, size_t j, double& sum) const {
    sum = 0;
    for (size_t d = 0; d < dim; ++d) sum += query[(head * queries + i) * dim + d] * key[j * dim + d];
    sum *= scale;
    if (softcap > 0) sum = softcap * std::tanh(sum / softcap);
    return sum + bias[(head * queries + i) * keys + j];
  }
  std::vector<double> out(std::vector<double>* log_sum_exp = nullptr) const {
    std::vector<double> all;
    for (size_t head = 0; head < heads; ++head)
      for (size_t i = 0; i < queries; ++i) {
        const size_t seen = causal ? i + 1 + keys - queries : keys;
        double total = 0, unused = 0;
        for (size_t j = 0; j < seen; ++j) total += std::exp(score(head, i, j, unused));
        if (log_sum_exp != nullptr) log_sum_exp->push_back(std::log(total));
        for (size_t d = 0; d < dim; ++d) {
          double sum = 0;
          for (size_t j = 0; j < seen; ++j)
            if (dropout.keeps(static_cast<int64_t>(head * queries + i), static_cast<int64_t>(j)))
              sum += std::exp(score(head, i, j, unused)) / total * value[j * dim + d] / (1 - dropout.p);
          all.push_back(sum);
        }
      }
    return all;
  }
  double loss() const {
    const std::vector<double> results = out();
    double loss = 0;
    for (size_t i = 0; i < results.size(); ++i) loss += of_out[i] * results[i];
    return loss;
  }
  Floats differences(std::vector<double> Model::*operand) const {
    constexpr double kStep = 1e-5;
    Floats gradient;
    Model moved = *this;
    for (double& value_of : moved.*operand) {
      const double before = value_of;
      value_of = before + kStep;
      const double above = moved.loss();
      value_of = before - kStep;
      gradient.push_back(static_cast<float>((above - moved.loss()) / (2 * kStep)));
      value_of = before;
    }
    return gradient;
  }
};

TEST(FlashAttentionCalls, results_and_gradients_are_those_of_the_definition) {
  const auto doubles = [](const Floats& values) { return std::vector<double>(values.begin(), values.end()); };
  const auto floats = [](const std::vector<double>& values) { return Floats(values.begin(), values.end()); };
  for (const bool causal : {false, true})
    for (const double softcap : {0.0, 1.5})
      for (const double p : {0.0, 0.3}) {
        Model model{.causal = causal,
                    .softcap = softcap,
                    .query = {},
                    .key = {},
                    .value = {},
                    .bias = {},
                    .of_out = {}};
        model.dropout = Dropout(p, 5, Dropout::kAttentionStream);
        Tensors tensors(2, 1, 5, 7, 3);
        tensors.bias = testing::random_floats(2 * 5 * 7, 5);
        tensors.problem.causal = causal;
        tensors.problem.softcap = static_cast<float>(softcap);
        tensors.scale = 0.7F;
        tensors.dropout = model.dropout;
        model.scale = static_cast<double>(tensors.scale);
        model.query = doubles(tensors.query);
        model.key = doubles(tensors.key);
        model.value = doubles(tensors.value);
        model.bias = doubles(tensors.bias);
        model.of_out = doubles(tensors.grad_out);
        std::vector<double> log_sum_exp;
        const Floats out = floats(model.out(&log_sum_exp));
        each_forward(tensors, [&](const Row<FlashAttention>& row) {
          const Results results = tensors.forward(row);
          expect_close(results.out, out, 1e-5, "out");
          expect_close(results.log_sum_exp, floats(log_sum_exp), 1e-5, "log_sum_exp");
        });
        each_backward(tensors, [&](const Row<FlashAttentionBackward>& row) {
          const Gradients gradients = tensors.backward(row, {out, floats(log_sum_exp)});
          expect_close(gradients.query, model.differences(&Model::query), 2e-5, "grad_query");
          expect_close(gradients.key, model.differences(&Model::key), 2e-5, "grad_key");
          expect_close(gradients.value, model.differences(&Model::value), 2e-5, "grad_value");
          expect_close(gradients.bias, model.differences(&Model::bias), 2e-5, "grad_bias");
        });
      }
}

/// The rule of the field: at most twice as far off as scores, weights and results that are each rounded.
TEST(FlashAttentionCalls, bf16_is_at_most_twice_as_far_off_as_plain_bf16) {
  const auto rounded = [](double value) {
    return static_cast<double>(float_from_bf16(bf16_from_float(static_cast<float>(value))));
  };
  constexpr size_t kTokens = 256, kDim = 64;
  Tensors tensors(1, 1, kTokens, kTokens, kDim, DType::bf16);
  tensors.scale = 0.125F;
  for (Floats* operand : {&tensors.query, &tensors.key, &tensors.value})
    *operand = lab::rounded_to_bf16(*operand);
  Tensors exact = tensors;
  exact.problem.dtype = exact.problem.bias = DType::f32;
  const Floats expected = exact.forward().out;
  double plain_error = 0;
  for (size_t i = 0; i < kTokens; ++i) {
    std::vector<double> weights;
    double total = 0;
    for (size_t j = 0; j < kTokens; ++j) {
      double sum = 0;
      for (size_t d = 0; d < kDim; ++d) sum += tensors.query[i * kDim + d] * tensors.key[j * kDim + d];
      weights.push_back(std::exp(rounded(rounded(sum) * tensors.scale)));
      total += weights.back();
    }
    for (size_t d = 0; d < kDim; ++d) {
      double sum = 0;
      for (size_t j = 0; j < kTokens; ++j) sum += rounded(weights[j] / total) * tensors.value[j * kDim + d];
      plain_error = std::max(plain_error, std::abs(rounded(sum) - expected[i * kDim + d]));
    }
  }
  ASSERT_GT(plain_error, 0);
  each_forward(tensors, [&](const Row<FlashAttention>& row) {
    const Floats out = tensors.forward(row).out;
    double error = 0;
    for (size_t i = 0; i < out.size(); ++i)
      error = std::max(error, std::abs(static_cast<double>(out[i]) - expected[i]));
    EXPECT_LE(error, 2 * plain_error);
  });
}

// ---- what is asked for ----

TEST(FlashAttentionCalls, what_nobody_asks_for_is_not_written) {
  const FlashBackwardCase c({.heads = 2, .queries = 20, .keys = 70, .head_dim = 16, .bias = true});
  const std::vector<lab::Expected> expected = c.expected({});
  ThreadTeam team(2);
  testing::each_fast_row(flash_attention_backward_rows(), c.problem, [&](const auto& row) {
    for (int asked = 0; asked < 4; ++asked) {
      testing::GuardedPlace place(team, testing::placed(row, testing::Guard::after));
      auto call = c.place(row, place);
      FlashAttentionBackward::Args& args = call.args;
      if (asked != 0) args.grad_query = nullptr;
      if (asked != 1) args.grad_key = nullptr;
      if (asked != 2) args.grad_value = nullptr;
      if (asked != 3) args.grad_bias = nullptr;
      row.run(args, place.launch(lab::put_workspace(row, c.problem, place)));
      place.wait();
      const std::vector<Output> outputs = call.read(place);
      for (size_t i = 0; i < outputs.size(); ++i)
        EXPECT_EQ(lab::compare(outputs[i], expected[i]).ok, i == static_cast<size_t>(asked))
            << row.name << ": " << outputs[i].name;
    }
  });
  Tensors tensors(1, 1, 5, 7, 8);
  each_forward(tensors, [&](const Row<FlashAttention>& row) {
    testing::GuardedPlace place(team, testing::placed(row, testing::Guard::after));
    auto args = tensors.args(place, {Floats(tensors.query.size()), Floats(5)});
    args.log_sum_exp = nullptr;
    row.run(args, place.launch(lab::put_workspace(row, args.problem, place)));
    place.wait();
    EXPECT_EQ(tensors.get(place, args.out, tensors.query.size()), tensors.forward(row).out);
  });
}

TEST(FlashAttentionCalls, calls_without_queries_or_keys) {
  for (const bool no_queries : {false, true}) {
    Tensors tensors(2, 1, 5, 7, 8);
    each_backward(tensors, [&](const Row<FlashAttentionBackward>& row) {
      ThreadTeam team(2);
      testing::GuardedPlace place(team, testing::placed(row, testing::Guard::after));
      FlashAttentionBackward::Args args;
      args.forward = tensors.args(place, tensors.forward());
      args.problem = {args.forward.problem, false};
      (no_queries ? args.forward.queries : args.forward.keys) = 0;
      args.grad_out = tensors.put(place, tensors.grad_out);
      args.grad_out_strides = args.forward.out_strides;
      args.grad_query = tensors.put(place, Floats(tensors.query.size(), 7.0F));
      args.grad_key = tensors.put(place, Floats(tensors.key.size(), 7.0F));
      args.grad_value = tensors.put(place, Floats(tensors.key.size(), 7.0F));
      row.run(args, place.launch(lab::put_workspace(row, args.problem, place)));
      place.wait();
      const void* written = no_queries ? args.grad_key : args.grad_query;
      const size_t count = no_queries ? tensors.key.size() : tensors.query.size();
      EXPECT_EQ(tensors.get(place, written, count), Floats(count));
    });
  }
}

TEST(FlashAttentionCalls, refuses_what_has_no_meaning) {
  for (const Row<FlashAttention>& row : testing::all_rows(flash_attention_rows())) {
    const auto refusal = [&](auto&& change) {
      FlashAttention::Problem problem;
      change(problem);
      return lab::refusal_of(row, problem);
    };
    EXPECT_EQ(refusal([](auto& problem) { problem.dtype = DType::i32; }),
              "query is i32; it must be f32, f16 or bf16");
    EXPECT_EQ(refusal([](auto& problem) { problem.head_dim = 257; }),
              "a head has 257 dims; it must have from 1 to 256");
    EXPECT_EQ(refusal([](auto& problem) { problem.head_dim = 0; }),
              "a head has 0 dims; it must have from 1 to 256");
    EXPECT_EQ(refusal([](auto& problem) { problem.heads = 3, problem.kv_heads = 2; }),
              "3 heads cannot share 2 heads of keys");
    EXPECT_EQ(refusal([](auto& problem) { problem.has_bias = true, problem.bias = DType::f16; }),
              "bias is f16; it must be f32 or as query, which is f32");
    EXPECT_EQ(refusal([](auto& problem) { problem.softcap = -1; }), "the softcap is below 0 or no number");
  }
  for (const Row<FlashAttentionBackward>& row : testing::all_rows(flash_attention_backward_rows())) {
    FlashAttentionBackward::Problem problem;
    problem.forward.head_dim = 300;
    EXPECT_EQ(lab::refusal_of(row, problem), "a head has 300 dims; it must have from 1 to 256");
  }
}

/// Rows of bf16 are not taken where exact arithmetic is asked for.
TEST(FlashAttentionCalls, exact_arithmetic_takes_rows_that_round_nothing) {
  for (const Row<FlashAttention>& row : testing::all_rows(flash_attention_rows())) {
    FlashAttention::Problem problem;
    problem.dtype = DType::bf16;
    problem.precision = Precision::exact;
    const bool rounds = row.rounding != nullptr && row.rounding(problem, 0).activations != Rounded::no;
    EXPECT_TRUE(!rounds || !lab::refusal_of(row, problem).empty()) << row.name;
  }
}

TEST(FlashAttentionCalls, some_rows_of_the_reference_are_those_of_all) {
  const FlashShape shape{.heads = 4, .kv_heads = 2, .queries = 13, .keys = 21, .head_dim = 8, .bias = true};
  ThreadTeam team(1);
  lab::HostPlace place(team);
  const FlashBackwardCase c(shape);
  const auto all = c.place(flash_attention_backward_rows().back(), place),
             some = c.place(flash_attention_backward_rows().back(), place);
  ref::flash_attention_backward(all.args, {});
  ref::flash_attention_backward_some(some.args, 7, 5);
  const std::vector<Output> whole = all.read(place), part = some.read(place);
  const size_t steps[] = {7, 5, 5, 7};
  for (size_t i = 0; i < whole.size(); ++i) {
    const auto cols = static_cast<size_t>(whole[i].cols);
    for (size_t row = steps[i] - 1; row * cols < whole[i].values.size(); row += steps[i])
      for (size_t col = row * cols; col < (row + 1) * cols; ++col)
        EXPECT_EQ(part[i].values[col], whole[i].values[col]) << whole[i].name;
  }
}

}  // namespace
}  // namespace orrery::kernels
