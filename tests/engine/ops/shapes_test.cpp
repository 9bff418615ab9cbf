// Ops that move elements into other places: padded, cut into parts, taken backwards.
#include <cmath>

#include "tests/engine/ops/tensor_fixture.h"

namespace orrery::ops::test {
namespace {

using testing::HasSubstr;
using Numbers = std::vector<double>;
using Shapes = TensorTest;

std::vector<int64_t> listed(std::initializer_list<int64_t> values) { return values; }

TEST_F(Shapes, Padded) {
  const ValueId x = tensor(DType::f16, {kTokens, 2}, {1, 2, 3, 4, 5, 6});
  const auto pad = [&](const char* mode) {
    return bench.run("pad", {x},
                     {{"paddings", listed({1, 0, 0, 1})}, {"mode", std::string(mode)}, {"value", -1.5}})[0];
  };
  EXPECT_EQ(made("pad", {x}, {{"paddings", listed({1, 0, 0, 1})}}), "f16[tokens+1, 3]");
  expect_near(pad("constant"), Numbers{-1.5, -1.5, -1.5, 1, 2, -1.5, 3, 4, -1.5, 5, 6, -1.5}, 0);
  expect_near(pad("reflect"), Numbers{3, 4, 3, 1, 2, 1, 3, 4, 3, 5, 6, 5}, 0);
  expect_near(pad("edge"), Numbers{1, 2, 2, 1, 2, 2, 3, 4, 4, 5, 6, 6}, 0);
  expect_near(pad("wrap"), Numbers{5, 6, 5, 1, 2, 1, 3, 4, 3, 5, 6, 5}, 0);
  expect_cost(0, 12 + 24, "pad", {x}, {{"paddings", listed({1, 0, 0, 1})}});
  EXPECT_THAT(made("pad", {x}, {{"paddings", listed({1, 0})}}),
              HasSubstr("paddings has 2 numbers, but src is f16"));
  EXPECT_THAT(made("pad", {x}, {{"paddings", listed({1, 0, -1, 0})}}), HasSubstr("none may be negative"));
  EXPECT_THAT(made("pad", {x}, {{"paddings", listed({1, 0, 1, 0})}, {"mode", std::string("mirror")}}),
              HasSubstr("Choose one of constant, reflect, edge, wrap"));
  const ValueId small = tensor(DType::u8, {2}, {1, 2});
  EXPECT_THAT(made("pad", {small}, {{"paddings", listed({1, 0})}, {"value", -1.0}}),
              HasSubstr("which is no u8"));
}

TEST_F(Shapes, SlicesThatGoBackwards) {
  const ValueId x = tensor(DType::f32, {2, 5}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  const auto slice = [&](int64_t start, int64_t stop, int64_t step) -> Attributes {
    return {{"axes", listed({1})},
            {"starts", listed({start})},
            {"stops", listed({stop})},
            {"steps", listed({step})}};
  };
  expect_near(bench.run("slice", {x}, slice(-1, INT64_MIN, -1))[0], Numbers{4, 3, 2, 1, 0, 9, 8, 7, 6, 5}, 0);
  expect_near(bench.run("slice", {x}, slice(3, 0, -2))[0], Numbers{3, 1, 8, 6}, 0);
  expect_near(bench.run("slice", {x}, slice(100, -100, -3))[0], Numbers{4, 1, 9, 6}, 0);
  expect_near(bench.run("slice", {x}, slice(-100, 100, 3))[0], Numbers{0, 3, 5, 8}, 0);
  EXPECT_THAT(made("slice", {x}, slice(1, 3, -1)), HasSubstr("takes nothing"));
  EXPECT_THAT(made("slice", {x}, slice(1, 3, 0)), HasSubstr("takes nothing"));
}

TEST_F(Shapes, CutIntoParts) {
  const ValueId x = tensor(DType::u8, {kTokens, 4}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  const Attributes halves{{"chunks", int64_t{2}}, {"axis", int64_t{-1}}};
  EXPECT_EQ(made("chunk", {x}, halves), "u8[tokens, 2]");
  const std::vector<Floats> chunks = bench.run("chunk", {x}, halves);
  ASSERT_EQ(chunks.size(), 2U);
  expect_near(chunks[0], Numbers{1, 2, 5, 6, 9, 10}, 0);
  expect_near(chunks[1], Numbers{3, 4, 7, 8, 11, 12}, 0);
  const std::vector<Floats> parts =
      bench.run("split_into", {x}, {{"sizes", listed({1, 3})}, {"axis", int64_t{1}}});
  ASSERT_EQ(parts.size(), 2U);
  expect_near(parts[0], Numbers{1, 5, 9}, 0);
  expect_near(parts[1], Numbers{2, 3, 4, 6, 7, 8, 10, 11, 12}, 0);
  const ValueId rows = tensor(DType::u8, {3, 2}, {1, 2, 3, 4, 5, 6});
  expect_near(bench.run("split_into", {rows}, {{"sizes", listed({2, 1})}})[1], Numbers{5, 6}, 0);
  EXPECT_THAT(made("chunk", {x}, {{"chunks", int64_t{3}}, {"axis", int64_t{1}}}),
              HasSubstr("they must divide it"));
  EXPECT_THAT(made("chunk", {x}, {{"chunks", int64_t{3}}}), HasSubstr("differs from step to step"));
  EXPECT_THAT(made("split_into", {x}, {{"sizes", listed({1, 2})}, {"axis", int64_t{1}}}),
              HasSubstr("must add up to axis 1"));
  EXPECT_THAT(made("split_into", {x}, {{"sizes", listed({5, -1})}, {"axis", int64_t{1}}}),
              HasSubstr("must add up to axis 1"));
}

TEST_F(Shapes, PairsAreComplexNumbers) {
  const ValueId x = tensor(DType::f16, {kTokens, 4}, Floats(12, 1));
  EXPECT_EQ(made("as_interleaved_complex", {x}), "f16[tokens, 2, 2]");
  EXPECT_THAT(made("as_interleaved_complex", {tensor(DType::f32, {3}, {1, 2, 3})}),
              HasSubstr("its last dim must be even"));
}

TEST_F(Shapes, OuterProducts) {
  const ValueId a = tensor(DType::i16, {2}, {2, -3}), b = tensor(DType::i8, {3}, {1, 2, 3});
  EXPECT_EQ(made("outer", {a, b}), "i16[2, 3]");
  expect_near(bench.run("outer", {a, b})[0], Numbers{2, 4, 6, -3, -6, -9}, 0);
  expect_cost(6, 4 + 3 + 12, "outer", {a, b});
  EXPECT_THAT(made("outer", {a, tensor(DType::i16, {1, 2}, {1, 2})}), HasSubstr("it must be a vector"));
}

TEST_F(Shapes, PlacesOfWhatIsNotZero) {
  const ValueId x = tensor(DType::f32, {kTokens, 2}, {0, 5, -1, 0, 0, NAN});
  EXPECT_EQ(made("nonzero", {x}), "i64[2*tokens, 2]");
  const std::vector<Floats> all = bench.run("nonzero", {x});
  expect_near(all[0], Numbers{0, 1, 1, 0, 2, 1, -1, -1, -1, -1, -1, -1}, 0);
  expect_near(all[1], Numbers{3}, 0);
  const std::vector<Floats> two = bench.run("nonzero", {x}, {{"size", int64_t{2}}});
  expect_near(two[0], Numbers{0, 1, 1, 0}, 0);
  expect_near(two[1], Numbers{3}, 0);
  EXPECT_THAT(made("nonzero", {tensor(DType::f32, {}, {1})}), HasSubstr("it must have dims"));
  EXPECT_THAT(made("nonzero", {x}, {{"size", int64_t{-1}}}), HasSubstr("size is -1"));
}

TEST_F(Shapes, ValuesWhereAMaskIsSet) {
  const ValueId x = tensor(DType::f16, {2, 3}, {1, 2, 3, 4, 5, 6}),
                mask = tensor(DType::boolean, {2, 3}, {0, 1, 1, 0, 0, 1}),
                updates = tensor(DType::f16, {2, 2}, {10, 20, 30, 40}), few = tensor(DType::f16, {1}, {10});
  expect_near(bench.run("masked_scatter", {x, mask, updates})[0], Numbers{1, 10, 20, 4, 5, 30}, 0);
  expect_near(bench.run("masked_scatter", {x, mask, few})[0], Numbers{1, 10, 3, 4, 5, 6}, 0);
  EXPECT_THAT(made("masked_scatter", {x, x, updates}), HasSubstr("it must be of bool and of that shape"));
  EXPECT_THAT(made("masked_scatter", {x, mask, mask}), HasSubstr("they must be of one type"));
}

}  // namespace
}  // namespace orrery::ops::test
