// Every row of Linear against the reference: dtypes, odd sizes, segments of mixed dtype, epilogues, strides.
// Rows that round activations are compared with the reference on activations rounded the same way; that the
// rounding itself stays within its bound is a test of its own.
#include "kernels/cpu/isa.h"
#include "linear_testing.h"

namespace orrery::kernels {
namespace {

using lab::LinearCase;
using testing::Guard;
using testing::linear_case;
using testing::SegmentSpec;
using testing::with_src;

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// dst of each output and, last, what lies between their rows.
std::vector<std::vector<float>> run(const LinearCase& c, const Row<Linear>& row, int threads = 2,
                                    Guard guard = Guard::after) {
  return testing::values_of(testing::run(c, row, threads, guard));
}

/// All rows that take the case against the oracle, output by output.
void check(const LinearCase& c, int threads = 2) {
  testing::expect_rows_agree(c, linear_rows(), testing::kOneGuard, threads);
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
        check(linear_case(tokens, cols, {{rows, GetParam()}}));
        if (HasFatalFailure()) return;
      }
    }
  }
}

/// Runs all rows beside either guard; that nothing faults is the test, and where memory lies changes no bit.
/// One thread, whose part of the workspace ends at the guard, and two.
void stays_inside(const LinearCase& c) {
  for (const Row<Linear>& row : testing::all_rows(linear_rows())) {
    if (!lab::refusal_of(row, c.problem).empty()) continue;
    const auto expected = run(c, row, 1, Guard::after);
    ASSERT_EQ(run(c, row, 2, Guard::before), expected) << row.name;
  }
}

TEST_P(LinearDtype, StaysInsideItsOperands) {
  for (const int64_t cols : columns()) {
    for (const int64_t tokens : {1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 17}) {
      for (const int64_t rows : {1, 3, 62, 64, 65}) {
        SCOPED_TRACE(std::to_string(tokens) + " tokens, " + std::to_string(rows) + " x " +
                     std::to_string(cols));
        LinearCase c = linear_case(tokens, cols, {{rows, GetParam(), true}, {3, GetParam()}});
        stays_inside(c);
        c.src_gap = 5;
        stays_inside(c);
        stays_inside(
            linear_case(tokens, cols, {{rows, GetParam(), true}, {rows, GetParam()}}, Epilogue::silu_mul));
        if (HasFatalFailure()) return;
      }
    }
  }
}

// A plan's workspace is made for its largest call and serves the smaller ones.
TEST_P(LinearDtype, SmallerCallsStayInsideTheWorkspaceOfTheLargest) {
  const int64_t cols = columns().back();
  for (const Epilogue epilogue : {Epilogue::none, Epilogue::silu_mul}) {
    LinearCase c = linear_case(40, cols, {{1100, GetParam()}, {1100, GetParam()}}, epilogue);
    c.problem.min_tokens = 1;
    for (const Row<Linear>& row : testing::fast_rows(linear_rows())) {
      if (!lab::refusal_of(row, c.problem).empty()) continue;
      for (const int64_t tokens : {1, 2, 8, 9, 33}) {
        const std::vector<float> part(c.src.begin(), c.src.begin() + tokens * cols);
        const auto expected = run(with_src(c, part), row, 1, Guard::after);
        EXPECT_EQ(run(with_src(c, part), row, 2, Guard::before), expected) << row.name << " " << tokens;
      }
    }
  }
}

TEST_P(LinearDtype, NoRowIsCoarserThanAsked) {
  for (const Precision precision : kPrecisions) {
    for (const int64_t tokens : {1, 6, 40}) {
      SCOPED_TRACE(std::string(name_of(precision)) + ", " + std::to_string(tokens) + " tokens");
      const LinearCase c =
          linear_case(tokens, columns().back(), {{45, GetParam(), true}}, Epilogue::none, precision);
      for (const Row<Linear>& row : testing::all_rows(linear_rows())) {
        const Rounded rounded = lab::roundings_of(row, c.problem)[0].activations;
        if (!allows(precision, rounded)) {
          EXPECT_NE(lab::refusal_of(row, c.problem), "") << row.name;
        }
      }
      check(c);
    }
  }
}

// Of the CPU: as coarse as allowed, where the machine has instructions for it.
TEST_P(LinearDtype, TheFirstRowRoundsAsAsked) {
  if (testing::device_under_test() != nullptr) GTEST_SKIP() << "a card rounds in its own way";
  const CpuFeatures features = this_machine().cpu.features;
  const bool vnni = features.has(kAvx512Vnni) || features.has(kAvx2Vnni);
  const DType dtype = GetParam();
  const int64_t cols = columns()[1];  // a multiple of 32
  const auto expected = [&](Precision precision) {
    if (precision == Precision::exact) return Rounded::no;
    if (is_quantised(dtype)) return precision == Precision::int8 && vnni ? Rounded::int8 : Rounded::int16;
    const bool bf16 = precision != Precision::int16 && features.has(kAvx512Bf16);
    return bf16 ? Rounded::bf16 : Rounded::no;
  };
  for (const Precision precision : kPrecisions) {
    for (const int64_t tokens : {1, 40}) {
      const LinearCase c = linear_case(tokens, cols, {{64, dtype}}, Epilogue::none, precision);
      const auto chosen = select(linear_rows(), c.problem, machine_of(DeviceKind::cpu));
      ASSERT_NE(chosen.row, nullptr);
      EXPECT_EQ(lab::roundings_of(*chosen.row, c.problem)[0].activations, expected(precision))
          << name_of(precision) << " " << tokens << ": " << chosen.row->name;
    }
  }
}

TEST_P(LinearDtype, EightBitsStayInside) {
  for (const int64_t tokens : {1, 4, 17}) {
    for (const int64_t cols : {columns().front(), columns().back()}) {
      stays_inside(linear_case(tokens, cols, {{65, GetParam(), true}, {3, GetParam()}}, Epilogue::none,
                               Precision::int8));
      check(linear_case(tokens, cols, {{65, GetParam()}, {65, GetParam(), true}}, Epilogue::silu_mul,
                        Precision::int8));
    }
  }
}

TEST_P(LinearDtype, LargeMatrixOnThreeThreads) {
  for (const int64_t tokens : {1, 3, 64, 128})
    check(linear_case(tokens, columns().back(), {{577, GetParam()}}), 3);
}

TEST_P(LinearDtype, MoreTokensThanATileHolds) {
  check(linear_case(330, columns()[1], {{70, GetParam()}}), 3);
}

TEST(Linear, AnyNumberOfTokensInTheLastTile) {
  for (const Epilogue epilogue : {Epilogue::gelu_erf, Epilogue::silu_mul})
    for (int64_t tokens = 33; tokens <= 64; ++tokens)
      check(linear_case(tokens, 96, {{70, DType::bf16, true}, {70, DType::bf16, true}}, epilogue));
}

TEST(Linear, MoreTokensThanACacheKeeps) {
  check(linear_case(290, 3072, {{70, DType::bf16, true}, {33, DType::bf16}}), 3);
}

TEST_P(LinearDtype, EpiloguesAndBias) {
  for (const Epilogue epilogue : {Epilogue::none, Epilogue::gelu_erf, Epilogue::gelu_tanh, Epilogue::silu,
                                  Epilogue::relu, Epilogue::tanh}) {
    for (const int64_t tokens : {1, 3, 12}) {
      SCOPED_TRACE("epilogue " + std::to_string(static_cast<int>(epilogue)));
      check(linear_case(tokens, columns()[1], {{37, GetParam(), true}}, epilogue));
    }
  }
}

TEST_P(LinearDtype, GatedEpilogues) {
  for (const Epilogue epilogue : {Epilogue::silu_mul, Epilogue::gelu_tanh_mul}) {
    for (const int64_t tokens : {1, 5, 19, 70}) {
      check(
          linear_case(tokens, columns()[1], {{1100, GetParam(), true}, {1100, GetParam(), false}}, epilogue));
    }
  }
}

TEST_P(LinearDtype, ATokenDependsNeitherOnTheOthersNorOnTheThreads) {
  struct Call {
    int64_t tokens, first, rows;
    Epilogue epilogue = Epilogue::none;
  };
  for (const auto& [tokens, first, rows, epilogue] :
       {Call{8, 3, 70}, Call{21, 10, 70}, Call{330, 100, 70}, Call{9, 1, 1088}, Call{330, 1, 128},
        Call{40, 8, 192, Epilogue::gelu_erf}}) {
    const int64_t cols = tokens < 100 ? columns().back() : columns()[1];
    const LinearCase c = linear_case(tokens, cols, {{rows, GetParam(), rows != 70}}, epilogue);
    for (const Row<Linear>& row : testing::all_rows(linear_rows())) {
      if (!lab::refusal_of(row, c.problem).empty()) continue;
      const auto all = run(c, row, 2);
      EXPECT_EQ(all, run(c, row, 1)) << row.name;
      EXPECT_EQ(all, run(c, row, 3)) << row.name;
      // The call split in two.
      const auto head = run(with_src(c, {c.src.begin(), c.src.begin() + first * cols}), row);
      const auto tail = run(with_src(c, {c.src.begin() + first * cols, c.src.end()}), row);
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
    check(linear_case(tokens, 512, {{192, DType::q4_k}, {64, DType::q4_k, true}, {64, DType::q6_k}}));
    check(linear_case(tokens, 512,
                      {{33, DType::q4_1}, {70, DType::q6_k}, {5, DType::q8_0}, {32, DType::q4_0}}));
    check(linear_case(tokens, 512, {{33, DType::f32}, {70, DType::f16, true}, {5, DType::bf16}}));
    check(linear_case(tokens, 512, {{40, DType::q4_k}, {40, DType::q6_k}}, Epilogue::silu_mul));
  }
}

// More tokens than a card takes in one pass, more outputs than it finishes at once.
TEST(Linear, ManyTokensGoInPasses) {
  if (testing::device_under_test() == nullptr) GTEST_SKIP() << "the CPU's rows take all tokens at once";
  for (const Epilogue epilogue : {Epilogue::none, Epilogue::gelu_erf}) {
    for (const DType dtype : {DType::bf16, DType::f16}) {
      for (const int64_t rows : {1100, 1101}) check(linear_case(8200, 8, {{rows, dtype, true}}, epilogue));
    }
  }
}

// Some rows of dst (they lie 3 apart) are 16-byte aligned, where a card's product can be written.
TEST(Linear, OutputsOfAnyWidthAndOffset) {
  for (const int64_t rows : {3, 64, 65, 66}) {
    for (const DType dtype : {DType::bf16, DType::f32, DType::q8_0}) {
      check(linear_case(20, 64, {{rows, dtype, true}, {rows, dtype}, {5, dtype, true}}));
      check(linear_case(20, 64, {{rows, dtype, true}}, Epilogue::gelu_erf));
      LinearCase odd = linear_case(20, 64, {{rows, dtype, true}});
      odd.src_gap = 3;
      check(odd);
    }
  }
}

TEST(Linear, RoundedActivationsCostLittleMoreThanFloat32) {
  const LinearCase c = linear_case(3, 512, {{64, DType::q4_1}});
  const auto exact = run(c, linear_rows().back());
  const auto scales = c.scales(0, c.src);
  testing::each_fast_row(linear_rows(), c.problem, [&](const Row<Linear>& row) {
    const auto actual = run(c, row, 2);
    double error = 0.0;
    for (size_t i = 0; i < actual[0].size(); ++i) {
      error += std::pow((actual[0][i] - exact[0][i]) / scales[i], 2);
    }
    // Gaussian blocks of 32: d is about 2.1 / 32639 and rounding costs d / sqrt(12), so 1.9e-5 |w| per
    // output; |x| is sqrt(512). f16 costs 2^-11 / sqrt(3) of a number just above a power of two and half as
    // much below the next, 2e-4 in the mean; activations and weights together 2.8e-4 |w|.
    const bool halves = lab::roundings_of(row, c.problem)[0].weights == Rounded::f16;
    const double bound = halves ? 3.5e-4 : 3e-5;
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
        LinearCase c = linear_case(tokens, 64, {{rows, DType::bf16, true}, {rows, DType::bf16}}, epilogue);
        SCOPED_TRACE(std::to_string(tokens) + " tokens, " + std::to_string(rows) + " rows");
        testing::each_fast_row(linear_rows(), c.problem, [&](const Row<Linear>& row) {
          const LinearCase plain = c;
          const auto expected = run(plain, row, 2);
          LinearCase kept = c;
          if (row.reads) kept.problem.src = row.reads(c.problem);
          EXPECT_EQ(run(kept, row, 2), expected) << row.name;
          if (row.writes) kept.problem.dst = row.writes(c.problem);
          const auto written = run(kept, row, 2);
          EXPECT_EQ(written, kept.problem.dst == DType::bf16 ? as_bf16(expected) : expected) << row.name;
        });
      }
    }
  }
}

// Bytes of another type than a row reads or writes are never given to it. Exactly computed, the CPU's rows
// are of float32.
TEST(Linear, NoRowIsChosenForWhatItDoesNotTakeRounded) {
  Linear::Problem plain = linear_case(40, 64, {{96, DType::bf16}}).problem;
  plain.precision = Precision::exact;
  Linear::Problem read = plain, written = plain;
  read.src = written.dst = DType::bf16;
  EXPECT_NE(select(linear_rows(), plain, this_machine()).row, nullptr);
  const auto reading = select(linear_rows(), read, this_machine());
  EXPECT_EQ(reading.row, nullptr);
  EXPECT_EQ(reading.refused.back().reason, "src is bf16, which it does not read");
  const auto writing = select(linear_rows(), written, this_machine());
  EXPECT_EQ(writing.row, nullptr);
  EXPECT_EQ(writing.refused.back().reason, "dst is bf16, which it does not write");
}

TEST(Linear, NotANumberIsSeen) {
  for (const DType dtype : {DType::f32, DType::bf16, DType::q4_1, DType::q8_0, DType::q4_k, DType::q6_k}) {
    for (const int64_t tokens : {1, 12}) {
      LinearCase c = linear_case(tokens, 512, {{40, dtype}});
      c.src[300] = NAN;
      testing::each_fast_row(linear_rows(), c.problem, [&](const Row<Linear>& row) {
        const auto actual = run(c, row, 2);
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
    LinearCase c = linear_case(10, 256, {{40, dtype}});
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
  EXPECT_TRUE(contains(lab::refusal_of(linear_rows().back(), problem), "no multiple of a Q4_1 block"));
  problem.cols = 64;
  problem.epilogue = Epilogue::silu_mul;
  EXPECT_TRUE(contains(lab::refusal_of(linear_rows().back(), problem), "two segments"));
  problem.segment_count = 2;
  problem.segments[1] = {9, DType::q4_1, false};
  EXPECT_TRUE(contains(lab::refusal_of(linear_rows().back(), problem), "differ in rows"));
  problem.segments[1].rows = 8;
  EXPECT_EQ(lab::refusal_of(linear_rows().back(), problem), "");
  for (const Row<Linear>& row : testing::all_rows(linear_rows())) {
    problem.cols = 65;
    EXPECT_NE(lab::refusal_of(row, problem), "") << row.name;
  }
}

}  // namespace
}  // namespace orrery::kernels
