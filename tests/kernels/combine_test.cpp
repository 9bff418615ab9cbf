#include "kernels/combine.h"

#include <limits>

#include "kernels/lab/combine_case.h"
#include "tests/kernels/row_testing.h"

namespace orrery::kernels {
namespace {

using lab::CombineCase;
using Function = Combine::Function;
using Sizes = std::vector<int64_t>;

constexpr Function kAll[] = {
    Function::add,         Function::sub,           Function::mul,         Function::div,
    Function::floor_div,   Function::mod,           Function::pow,         Function::maximum,
    Function::minimum,     Function::bitwise_and,   Function::bitwise_or,  Function::bitwise_xor,
    Function::equal,       Function::not_equal,     Function::less,        Function::less_equal,
    Function::greater,     Function::greater_equal, Function::logical_and, Function::logical_or,
    Function::logical_xor, Function::where};
constexpr DType kTypes[] = {DType::f32, DType::f16, DType::bf16, DType::i8,     DType::i16,
                            DType::i32, DType::i64, DType::u8,   DType::boolean};

Combine::Problem problem(Function function, DType a, DType b, DType common) {
  return {function, a, b, common, compares(function) ? DType::boolean : common, 0};
}

/// Where an operand has a size of 1 instead of the whole's it is broadcast.
Walk<4> broadcast(const Sizes& whole, const Sizes& a, const Sizes& b, const Sizes& condition) {
  Walk<4> walk{.rank = static_cast<int>(whole.size())};
  std::copy(whole.begin(), whole.end(), walk.sizes);
  const Sizes* operands[] = {&a, &b, &condition, &whole};
  for (int o = 0; o < 4; ++o) {
    pack_strides(walk.rank, operands[o]->data(), walk.strides[o]);
    for (size_t d = 0; d < whole.size(); ++d)
      if ((*operands[o])[d] == 1) walk.strides[o][d] = 0;
  }
  return walk;
}
Walk<4> alike(const Sizes& whole) { return broadcast(whole, whole, whole, whole); }

TEST(Combine, every_function_of_every_type) {
  for (const DType dtype : kTypes)
    for (const Function function : kAll) {
      const Combine::Problem asked = problem(function, dtype, dtype, dtype);
      if (!ref::legal(asked).empty()) continue;
      SCOPED_TRACE(std::string(name_of(dtype)) + " " + std::to_string(static_cast<int>(function)));
      for (const int64_t count : {1, 255, 257, 9001})
        testing::expect_rows_agree(CombineCase(asked, alike({count})), combine_rows());
    }
}

TEST(Combine, operands_are_broadcast_over_any_dims) {
  const std::vector<std::vector<Sizes>> shapes = {
      {{}, {}, {}, {}},
      {{33}, {33}, {1}, {33}},
      {{7, 129}, {7, 129}, {1, 129}, {7, 1}},
      {{7, 129}, {7, 1}, {1, 129}, {1, 1}},
      {{3, 5, 17}, {1, 5, 1}, {3, 1, 17}, {3, 5, 17}},
      {{2, 3, 2, 5, 2, 9}, {2, 1, 2, 1, 2, 1}, {1, 3, 1, 5, 1, 9}, {1, 1, 2, 5, 1, 1}}};
  for (const auto& shape : shapes)
    for (const Function function : {Function::add, Function::div, Function::less, Function::where})
      for (const DType dtype : {DType::f32, DType::bf16}) {
        SCOPED_TRACE(std::to_string(shape[0].size()) + " dims, " +
                     std::to_string(static_cast<int>(function)));
        testing::expect_rows_agree(CombineCase(problem(function, dtype, dtype, dtype),
                                               broadcast(shape[0], shape[1], shape[2], shape[3])),
                                   combine_rows());
      }
}

TEST(Combine, types_are_mixed) {
  for (const auto& [a, b, common] : {std::tuple{DType::f32, DType::f16, DType::f32},
                                     {DType::i8, DType::f32, DType::f32},
                                     {DType::u8, DType::i32, DType::i32},
                                     {DType::boolean, DType::i64, DType::i64},
                                     {DType::bf16, DType::u8, DType::bf16}})
    for (const Function function : {Function::sub, Function::mul, Function::greater, Function::where})
      testing::expect_rows_agree(CombineCase(problem(function, a, b, common), alike({5, 77})),
                                 combine_rows());
  testing::expect_rows_agree(
      CombineCase(problem(Function::div, DType::i64, DType::i32, DType::f32), alike({999})), combine_rows());
}

TEST(Combine, infinities_and_what_is_no_number) {
  for (const Function function : kAll)
    if (!is_bitwise(function) && !is_logical(function))
      testing::expect_rows_agree(CombineCase(problem(function, DType::f32, DType::f32, DType::f32),
                                             alike({4096}), 7, lab::Distribution::broken),
                                 combine_rows());
}

TEST(Combine, quotients_are_rounded_down) {
  const std::vector<int64_t> a = {7, -7, 7, -7, 6, 0, 5, INT64_MIN}, b = {2, 2, -2, -2, 3, 4, 0, -1};
  const auto of = [&](const Row<Combine>& row, Function function) {
    ThreadTeam team(1);
    testing::GuardedPlace place(team, testing::placed(row, testing::Guard::after));
    Combine::Args args{.problem = problem(function, DType::i64, DType::i64, DType::i64), .walk = alike({8})};
    args.problem.rank = 1;
    args.a = place.put(a);
    args.b = place.put(b);
    auto* dst = place.put(std::vector<int64_t>(8));
    args.dst = dst;
    row.run(args, place.launch(nullptr));
    place.wait();
    return place.get(dst, 8);
  };
  for (const Row<Combine>& row : testing::all_rows(combine_rows())) {
    EXPECT_EQ(of(row, Function::floor_div), (std::vector<int64_t>{3, -4, -4, 3, 2, 0, 0, INT64_MIN}))
        << row.name;
    EXPECT_EQ(of(row, Function::mod), (std::vector<int64_t>{1, 1, -1, -1, 0, 0, 0, 0})) << row.name;
    EXPECT_EQ(of(row, Function::pow), (std::vector<int64_t>{49, 49, 0, 0, 216, 0, 1, 0})) << row.name;
  }
}

TEST(Combine, whole_numbers_wrap) {
  for (const Row<Combine>& row : testing::all_rows(combine_rows())) {
    ThreadTeam team(1);
    testing::GuardedPlace place(team, testing::placed(row, testing::Guard::after));
    Combine::Args args{.problem = problem(Function::mul, DType::i64, DType::i64, DType::i64),
                       .walk = alike({2})};
    args.problem.rank = 1;
    args.a = place.put(std::vector<int64_t>{INT64_MAX, (int64_t{1} << 40) + 1});
    args.b = place.put(std::vector<int64_t>{2, 3});
    auto* dst = place.put(std::vector<int64_t>(2));
    args.dst = dst;
    row.run(args, place.launch(nullptr));
    place.wait();
    EXPECT_EQ(place.get(dst, 2), (std::vector<int64_t>{-2, (int64_t{3} << 40) + 3})) << row.name;
  }
}

TEST(Combine, refuses_what_has_no_meaning) {
  for (const Row<Combine>& row : testing::all_rows(combine_rows())) {
    EXPECT_EQ(lab::refusal_of(row, problem(Function::div, DType::i32, DType::i32, DType::i32)),
              "whole numbers do not divide");
    EXPECT_EQ(lab::refusal_of(row, problem(Function::bitwise_and, DType::f32, DType::f32, DType::f32)),
              "floats have no bits to combine");
    EXPECT_EQ(lab::refusal_of(row, problem(Function::logical_or, DType::u8, DType::u8, DType::u8)),
              "its operands are u8; it takes bools");
    EXPECT_EQ(lab::refusal_of(row, problem(Function::add, DType::f32, DType::i32, DType::i32)),
              "floats are not computed in whole numbers");
    EXPECT_EQ(lab::refusal_of(row, {Function::less, DType::f32, DType::f32, DType::f32, DType::f32, 1}),
              "its result is bool");
    EXPECT_NE(lab::refusal_of(row, problem(Function::add, DType::q8_0, DType::f32, DType::f32)), "");
  }
}

}  // namespace
}  // namespace orrery::kernels
