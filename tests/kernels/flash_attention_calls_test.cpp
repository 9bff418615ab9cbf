// Attention over tensors of operands that a test makes: what is not finite, masks, lengths, what is not asked
// for. flash_attention_test.cpp has problems of the lab.
#include "kernels/flash_attention.h"

#include <cmath>

#include "kernels/lab/flash_attention_case.h"
#include "tests/kernels/flash_attention_tensors.h"

namespace orrery::kernels {
namespace {

using lab::FlashBackwardCase;
using lab::FlashCase;
using lab::FlashShape;
using lab::Output;
using testing::each_backward;
using testing::each_forward;
using testing::expect_close;
using Floats = std::vector<float>;
using Results = testing::FlashResults;
using Gradients = testing::FlashGradients;
using Tensors = testing::FlashTensors;

constexpr DType kFloatTypes[] = {DType::f32, DType::bf16, DType::f16};
constexpr float kInfinity = INFINITY;

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
