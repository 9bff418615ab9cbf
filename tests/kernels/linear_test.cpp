// Every row of Linear against the reference: dtypes, odd sizes, segments of mixed dtype, epilogues, strides.
// Rows that round activations to 16-bit integers are compared with the reference on activations rounded the
// same way, so that the float32 tolerance holds for them too; that the rounding itself stays within its bound
// is a test of its own.
#include "linear_testing.h"

namespace orrery::kernels {
namespace {

using testing::Guard;
using testing::LinearCase;
using testing::SegmentSpec;

constexpr double kFloatTolerance = 2e-6;  // of |x| |w|: float32 sums in any order, up to 2,048 columns
constexpr double kF16Tolerance = 5e-4;    // of |x| |w|: quantised weights rounded to float16, 2^-11
constexpr double kBf16Tolerance = 2e-3;   // of |x| |w|: float16 weights rounded to bfloat16, 2^-9

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool rounds_to_integers(const Row<Linear>& row) {
  if (row.device != DeviceKind::cpu) return false;
  return contains(row.name, "matvec") || contains(row.name, "tiles");
}

/// A CUDA row that multiplies 16-bit matrices; its exact form does not.
bool rounds_to_halves(const Row<Linear>& row, const LinearCase& c) {
  return row.name == "cuda.dense" && c.problem.accuracy == Linear::Accuracy::fast;
}

/// A CUDA row that rounds activations to f16, and nothing else; to 8 tokens it does not.
bool rounds_activations_to_halves(const Row<Linear>& row, const LinearCase& c) {
  return row.name == "cuda.tiles" && c.problem.tokens > 8;
}

/// The activations as the row sees them, for one output.
std::vector<float> seen_by(const Row<Linear>& row, const LinearCase& c, int output) {
  const DType dtype = c.problem.segments[static_cast<size_t>(output)].weight;
  if (rounds_to_integers(row)) {
    return testing::rounded_activations(c.src, dtype_info(dtype).block_elements);
  }
  if (rounds_activations_to_halves(row, c)) return testing::scaled_to_f16(c.src, c.problem.cols);
  std::vector<float> source = c.src;
  if (rounds_to_halves(row, c) && dtype != DType::f32 && dtype != DType::bf16)
    return testing::scaled_to_f16(source, c.problem.cols);
  if (contains(row.name, "bf16") || (rounds_to_halves(row, c) && dtype == DType::bf16)) {
    for (float& x : source) x = float_from_bf16(bf16_from_float(x));
  }
  return source;
}

double tolerance_of(const Row<Linear>& row, const LinearCase& c) {
  if (rounds_to_halves(row, c)) {
    for (int s = 0; s < c.problem.segment_count; ++s)
      if (is_quantised(c.problem.segments[static_cast<size_t>(s)].weight)) return kF16Tolerance;
  }
  if (!contains(row.name, "bf16")) return kFloatTolerance;
  for (int s = 0; s < c.problem.segment_count; ++s) {
    if (c.problem.segments[static_cast<size_t>(s)].weight == DType::f16) return kBf16Tolerance;
  }
  return kFloatTolerance;
}

void expect_close(const LinearCase& c, const Row<Linear>& row, int output, const std::vector<float>& source,
                  const std::vector<float>& actual, const std::vector<float>& expected) {
  const std::vector<float> scales = c.scales(output, source);
  ASSERT_EQ(actual.size(), expected.size());
  const auto rows = static_cast<size_t>(c.problem.segments[static_cast<size_t>(output)].rows);
  for (size_t i = 0; i < actual.size(); ++i) {
    ASSERT_NEAR(actual[i], expected[i], tolerance_of(row, c) * scales[i])
        << row.name << " output " << output << " token " << i / rows << " row " << i % rows;
  }
}

/// All rows that take the case against the reference, output by output.
void check(const LinearCase& c, int threads = 2) {
  const std::span<const Row<Linear>> rows = linear_rows();
  const Row<Linear>& reference = rows.back();
  testing::each_fast_row(rows, c.problem, [&](const Row<Linear>& row) {
    const auto actual = c.run(row, threads, c.src);
    for (int s = 0; s < c.outputs(); ++s) {
      const std::vector<float> source = seen_by(row, c, s);
      const auto expected = c.run(reference, 2, source);
      const auto i = static_cast<size_t>(s);
      expect_close(c, row, s, source, actual[i], expected[i]);
      if (::testing::Test::HasFatalFailure()) return;
    }
  });
}

class LinearDtype : public ::testing::TestWithParam<DType> {
 protected:
  static std::vector<int64_t> columns() {
    const int block = dtype_info(GetParam()).block_elements;
    if (block == 256) return {256, 768};
    if (block == 32) return {32, 64, 96, 128, 576, 608};
    return {1, 64, 7, 16, 33, 577, 384};
  }
};

TEST_P(LinearDtype, EverySizeMatchesTheReference) {
  for (const int64_t cols : columns()) {
    for (const int64_t tokens : {1, 2, 3, 4, 5, 7, 8, 9, 10, 11, 16, 31, 33}) {
      for (const int64_t rows : {1, 5, 32, 33, 67}) {
        SCOPED_TRACE(std::to_string(tokens) + " tokens, " + std::to_string(rows) + " x " +
                     std::to_string(cols));
        check(LinearCase(tokens, cols, {{rows, GetParam()}}));
        if (HasFatalFailure()) return;
      }
    }
  }
}

/// Runs all rows beside either guard; that nothing faults is the test, and where memory lies changes no bit.
/// One thread, whose part of the workspace ends at the guard, and two.
void stays_inside(const LinearCase& c) {
  for (const Row<Linear>& row : testing::all_rows(linear_rows())) {
    if (!row.supports(c.problem).empty()) continue;
    const auto expected = c.run(row, 1, c.src, Guard::after);
    ASSERT_EQ(c.run(row, 2, c.src, Guard::before), expected) << row.name;
  }
}

TEST_P(LinearDtype, StaysInsideItsOperands) {
  for (const int64_t cols : columns()) {
    for (const int64_t tokens : {1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 17}) {
      for (const int64_t rows : {1, 3, 62, 64, 65}) {
        SCOPED_TRACE(std::to_string(tokens) + " tokens, " + std::to_string(rows) + " x " +
                     std::to_string(cols));
        LinearCase c(tokens, cols, {{rows, GetParam(), true}, {3, GetParam()}});
        stays_inside(c);
        c.src_gap = 5;
        stays_inside(c);
        stays_inside(
            LinearCase(tokens, cols, {{rows, GetParam(), true}, {rows, GetParam()}}, Epilogue::silu_mul));
        if (HasFatalFailure()) return;
      }
    }
  }
}

// A plan's workspace is made for its largest call and serves the smaller ones.
TEST_P(LinearDtype, SmallerCallsStayInsideTheWorkspaceOfTheLargest) {
  const int64_t cols = columns().back();
  for (const Epilogue epilogue : {Epilogue::none, Epilogue::silu_mul}) {
    LinearCase c(40, cols, {{1100, GetParam()}, {1100, GetParam()}}, epilogue);
    c.problem.min_tokens = 1;
    for (const Row<Linear>& row : testing::fast_rows(linear_rows())) {
      if (!row.supports(c.problem).empty()) continue;
      for (const int64_t tokens : {1, 2, 8, 9, 33}) {
        const std::vector<float> part(c.src.begin(), c.src.begin() + tokens * cols);
        const auto expected = c.run(row, 1, part, Guard::after);
        EXPECT_EQ(c.run(row, 2, part, Guard::before), expected) << row.name << " " << tokens;
      }
    }
  }
}

TEST_P(LinearDtype, ExactModeKeepsFloat32) {
  for (const int64_t tokens : {1, 6, 40}) {
    const LinearCase c(tokens, columns().back(), {{45, GetParam(), true}}, Epilogue::none,
                       Linear::Accuracy::exact);
    for (const Row<Linear>& row : testing::all_rows(linear_rows())) {
      if (rounds_to_integers(row) || contains(row.name, "bf16")) {
        EXPECT_NE(row.supports(c.problem), "") << row.name;
      }
    }
    check(c);
  }
}

TEST_P(LinearDtype, LargeMatrixOnThreeThreads) {
  for (const int64_t tokens : {1, 3, 64, 128})
    check(LinearCase(tokens, columns().back(), {{577, GetParam()}}), 3);
}

TEST_P(LinearDtype, EpiloguesAndBias) {
  for (const Epilogue epilogue : {Epilogue::none, Epilogue::gelu_erf, Epilogue::gelu_tanh, Epilogue::silu,
                                  Epilogue::relu, Epilogue::tanh}) {
    for (const int64_t tokens : {1, 3, 12}) {
      SCOPED_TRACE("epilogue " + std::to_string(static_cast<int>(epilogue)));
      check(LinearCase(tokens, columns()[1], {{37, GetParam(), true}}, epilogue));
    }
  }
}

TEST_P(LinearDtype, GatedEpilogues) {
  for (const Epilogue epilogue : {Epilogue::silu_mul, Epilogue::gelu_tanh_mul}) {
    for (const int64_t tokens : {1, 5, 19}) {
      check(
          LinearCase(tokens, columns()[1], {{1100, GetParam(), true}, {1100, GetParam(), false}}, epilogue));
    }
  }
}

TEST_P(LinearDtype, ATokenDependsNeitherOnTheOthersNorOnTheThreads) {
  const int64_t cols = columns().back();
  for (const int64_t tokens : {8, 21}) {
    const LinearCase c(tokens, cols, {{70, GetParam()}});
    for (const Row<Linear>& row : testing::all_rows(linear_rows())) {
      if (!row.supports(c.problem).empty()) continue;
      const auto all = c.run(row, 2, c.src);
      EXPECT_EQ(all, c.run(row, 1, c.src)) << row.name;
      EXPECT_EQ(all, c.run(row, 3, c.src)) << row.name;
      const int64_t first = tokens == 8 ? 3 : 10;  // the call split in two
      const auto head = c.run(row, 2, {c.src.begin(), c.src.begin() + first * cols});
      const auto tail = c.run(row, 2, {c.src.begin() + first * cols, c.src.end()});
      std::vector<float> joined = head[0];
      joined.insert(joined.end(), tail[0].begin(), tail[0].end());
      EXPECT_EQ(all[0], joined) << row.name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, LinearDtype,
                         ::testing::Values(DType::f32, DType::f16, DType::bf16, DType::q4_0, DType::q4_1,
                                           DType::q8_0, DType::q4_k, DType::q6_k, DType::q5_0, DType::q5_1,
                                           DType::q2_k, DType::q3_k, DType::q5_k, DType::iq4_nl,
                                           DType::iq4_xs, DType::mxfp4, DType::f8_e4m3, DType::f8_e5m2),
                         [](const auto& info) { return std::string(name_of(info.param)); });

TEST(Linear, SegmentsOfMixedTypes) {
  for (const int64_t tokens : {1, 4, 30}) {
    check(LinearCase(tokens, 512, {{192, DType::q4_k}, {64, DType::q4_k, true}, {64, DType::q6_k}}));
    check(
        LinearCase(tokens, 512, {{33, DType::q4_1}, {70, DType::q6_k}, {5, DType::q8_0}, {32, DType::q4_0}}));
    check(LinearCase(tokens, 512, {{33, DType::f32}, {70, DType::f16, true}, {5, DType::bf16}}));
    check(LinearCase(tokens, 512, {{40, DType::q4_k}, {40, DType::q6_k}}, Epilogue::silu_mul));
  }
}

// More tokens than a card takes in one pass, more outputs than it finishes at once.
TEST(Linear, ManyTokensGoInPasses) {
  if (testing::device_under_test() == nullptr) GTEST_SKIP() << "the CPU's rows take all tokens at once";
  for (const Epilogue epilogue : {Epilogue::none, Epilogue::gelu_erf}) {
    for (const DType dtype : {DType::bf16, DType::f16}) {
      for (const int64_t rows : {1100, 1101}) check(LinearCase(8200, 8, {{rows, dtype, true}}, epilogue));
    }
  }
}

// Some rows of dst (they lie 3 apart) are 16-byte aligned, where a card's product can be written.
TEST(Linear, OutputsOfAnyWidthAndOffset) {
  for (const int64_t rows : {3, 64, 65, 66}) {
    for (const DType dtype : {DType::bf16, DType::f32, DType::q8_0}) {
      check(LinearCase(20, 64, {{rows, dtype, true}, {rows, dtype}, {5, dtype, true}}));
      check(LinearCase(20, 64, {{rows, dtype, true}}, Epilogue::gelu_erf));
      LinearCase odd(20, 64, {{rows, dtype, true}});
      odd.src_gap = 3;
      check(odd);
    }
  }
}

TEST(Linear, RoundedActivationsCostLittleMoreThanFloat32) {
  const LinearCase c(3, 512, {{64, DType::q4_1}});
  const auto exact = c.run(linear_rows().back(), 2, c.src);
  const auto scales = c.scales(0, c.src);
  testing::each_fast_row(linear_rows(), c.problem, [&](const Row<Linear>& row) {
    const auto actual = c.run(row, 2, c.src);
    double error = 0.0;
    for (size_t i = 0; i < actual[0].size(); ++i) {
      error += std::pow((actual[0][i] - exact[0][i]) / scales[i], 2);
    }
    // Gaussian blocks of 32: d is about 2.1 / 32639 and rounding costs d / sqrt(12), so 1.9e-5 |w| per
    // output; |x| is sqrt(512). f16 costs 2^-11 / sqrt(3) of a number just above a power of two and half as
    // much below the next, 2e-4 in the mean; activations and weights together 2.8e-4 |w|.
    const double bound = rounds_to_halves(row, c) ? 3.5e-4 : 3e-5;
    EXPECT_LT(std::sqrt(error / static_cast<double>(actual[0].size())), bound / std::sqrt(512.0)) << row.name;
  });
}

/// Every element as bf16 holds it.
std::vector<std::vector<float>> as_bf16(std::vector<std::vector<float>> outputs) {
  for (std::vector<float>& output : outputs)
    for (float& x : output) x = float_from_bf16(bf16_from_float(x));
  return outputs;
}

// A row that rounds what it reads may be given it rounded, and may round what it writes: no other number
// comes of it.
TEST(Linear, WhatIsStoredRoundedChangesNoNumber) {
  for (const Epilogue epilogue : {Epilogue::none, Epilogue::gelu_erf, Epilogue::silu_mul}) {
    for (const int64_t rows : {96, 37}) {
      for (const int64_t tokens : {1, 40, 300}) {
        LinearCase c(tokens, 64, {{rows, DType::bf16, true}, {rows, DType::bf16}}, epilogue);
        SCOPED_TRACE(std::to_string(tokens) + " tokens, " + std::to_string(rows) + " rows");
        testing::each_fast_row(linear_rows(), c.problem, [&](const Row<Linear>& row) {
          const LinearCase plain = c;
          const auto expected = plain.run(row, 2, plain.src);
          LinearCase kept = c;
          if (row.reads) kept.problem.src = row.reads(c.problem);
          EXPECT_EQ(kept.run(row, 2, kept.src), expected) << row.name;
          if (row.writes) kept.problem.dst = row.writes(c.problem);
          const auto written = kept.run(row, 2, kept.src);
          EXPECT_EQ(written, kept.problem.dst == DType::bf16 ? as_bf16(expected) : expected) << row.name;
        });
      }
    }
  }
}

TEST(Linear, NotANumberIsSeen) {
  for (const DType dtype : {DType::f32, DType::bf16, DType::q4_1, DType::q8_0, DType::q4_k, DType::q6_k}) {
    for (const int64_t tokens : {1, 12}) {
      LinearCase c(tokens, 512, {{40, dtype}});
      c.src[300] = NAN;
      testing::each_fast_row(linear_rows(), c.problem, [&](const Row<Linear>& row) {
        const auto actual = c.run(row, 2, c.src);
        EXPECT_TRUE(std::isnan(actual[0][0])) << row.name;
        if (tokens > 1) {
          EXPECT_TRUE(std::isfinite(actual[0][40])) << row.name;
        }
      });
    }
  }
}

TEST(Linear, ZerosAndLargeValues) {
  for (const DType dtype : {DType::f32, DType::q4_0, DType::q4_k}) {
    LinearCase c(10, 256, {{40, dtype}});
    std::fill(c.src.begin(), c.src.begin() + 256, 0.0F);
    for (int i = 256; i < 512; ++i) c.src[static_cast<size_t>(i)] *= 1e30F;
    for (int i = 512; i < 768; ++i) c.src[static_cast<size_t>(i)] *= 1e-30F;
    check(c);
  }
}

TEST(Linear, RefusesWhatItDoesNotDefine) {
  Linear::Problem problem;
  problem.cols = 100;
  problem.segments[0] = {8, DType::q4_1, false};
  EXPECT_TRUE(contains(linear_rows().back().supports(problem), "no multiple of a Q4_1 block"));
  problem.cols = 64;
  problem.epilogue = Epilogue::silu_mul;
  EXPECT_TRUE(contains(linear_rows().back().supports(problem), "two segments"));
  problem.segment_count = 2;
  problem.segments[1] = {9, DType::q4_1, false};
  EXPECT_TRUE(contains(linear_rows().back().supports(problem), "differ in rows"));
  problem.segments[1].rows = 8;
  EXPECT_EQ(linear_rows().back().supports(problem), "");
  for (const Row<Linear>& row : testing::all_rows(linear_rows())) {
    problem.cols = 65;
    EXPECT_NE(row.supports(problem), "") << row.name;
  }
}

}  // namespace
}  // namespace orrery::kernels
