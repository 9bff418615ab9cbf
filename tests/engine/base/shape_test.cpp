#include "engine/base/shape.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

TEST(Dim, IsWrittenAsPeopleWriteIt) {
  EXPECT_EQ(Dim(576).to_string(), "576");
  EXPECT_EQ(Dim(kTokens).to_string(), "tokens");
  EXPECT_EQ((Dim(kTokens) * 2 + 1).to_string(), "2*tokens+1");
  EXPECT_EQ((Dim(kSequences) + -1).to_string(), "sequences-1");
  EXPECT_EQ((Dim(kTokens) * -1).to_string(), "-tokens");
  EXPECT_EQ((Dim(kTokens) + Dim(kOutputs) * 3).to_string(), "3*outputs+tokens");
  EXPECT_EQ(Dim(0).to_string(), "0");
}

TEST(Dim, EqualExpressionsCompareEqual) {
  EXPECT_EQ(Dim(kTokens) + 1 + -1, Dim(kTokens));
  EXPECT_EQ(Dim(kTokens) + Dim(kTokens) * -1, Dim(0));
  EXPECT_EQ(Dim(kTokens) * 0, Dim(0));
  EXPECT_NE(Dim(kTokens), Dim(kOutputs));
  EXPECT_TRUE((Dim(kTokens) + Dim(kTokens) * -1).is_constant());
}

TEST(Dim, EvaluatesWithBoundSymbolsOnly) {
  const Dim dim = Dim(kTokens) * 4 + 1;
  EXPECT_EQ(dim.evaluate({{kTokens, 10}}), 41);
  EXPECT_EQ(dim.evaluate({{kOutputs, 10}}), std::nullopt);
  EXPECT_EQ(Dim(7).evaluate({}), 7);
}

TEST(Dim, RefusesWhatDoesNotFit) {
  EXPECT_EQ((Dim(kTokens) * 4).evaluate({{kTokens, INT64_MAX / 2}}), std::nullopt);
  EXPECT_EQ((Dim(kTokens) + 1).evaluate({{kTokens, INT64_MAX}}), std::nullopt);
}

TEST(Dim, HoldsWhatDoesNotFit) {
  const Dim most = INT64_MAX;
  EXPECT_EQ(most + 1, most);
  EXPECT_EQ(Dim(INT64_MIN) + -1, Dim(INT64_MIN));
  EXPECT_EQ((Dim(kTokens) * INT64_MAX) * 2, Dim(kTokens) * INT64_MAX);
}

TEST(Dim, IsReadAsItIsWritten) {
  for (const Dim& dim : {Dim(0), Dim(576), Dim(kTokens), Dim(kTokens) * 2 + 1, Dim(kSequences) + -1,
                         Dim(kTokens) * -1, Dim(kTokens) + Dim(kOutputs) * 3})
    EXPECT_EQ(Dim::parse(dim.to_string()), dim) << dim.to_string();
  EXPECT_EQ(Dim::parse("1+n"), Dim("n") + 1);
  EXPECT_EQ(Dim::parse("n+n"), Dim("n") * 2);
  for (const std::string_view bad :
       {"", "n m", "2n", "n*2", "n*m", "+n", "n+", "--n", "2.5", "99999999999999999999", "a-b-", "(n)"})
    EXPECT_FALSE(Dim::parse(bad)) << bad;
}

TEST(Shape, IsReadFromText) {
  EXPECT_EQ(parse_shape("n, 64"), (Shape{Dim("n"), 64}));
  EXPECT_EQ(parse_shape("2*n+1,3"), (Shape{Dim("n") * 2 + 1, 3}));
  EXPECT_EQ(parse_shape(" "), Shape());
  EXPECT_FALSE(parse_shape("n,"));
  EXPECT_FALSE(parse_shape("[n]"));
}

TEST(Shape, CountsElements) {
  EXPECT_EQ(to_string(Shape{kTokens, 576}), "[tokens, 576]");
  EXPECT_EQ(to_string(Shape{}), "[]");
  EXPECT_EQ(element_count({kTokens, 576}, {{kTokens, 3}}), 1728);
  EXPECT_EQ(element_count({}, {}), 1);
  EXPECT_EQ(element_count({int64_t{1} << 32, int64_t{1} << 32}, {}), std::nullopt);
  EXPECT_EQ(element_count({-1}, {}), std::nullopt);
}

}  // namespace
}  // namespace orrery
