// What a person types for an input, as an array.
#include "engine/api/array_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <limits>

namespace orrery::api {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Dim n{Symbol("n")}, m{Symbol("m")};

std::vector<double> numbers(const Array& array) {
  std::vector<double> all;
  for (int64_t i = 0; i < statistics_of(array).elements; ++i) all.push_back(number_at(array, i));
  return all;
}

Array array(std::string_view text, const graph::ValueType& type) {
  auto made = array_in(text, type);
  EXPECT_TRUE(made.ok()) << text << ": " << (made.ok() ? "" : made.error().to_string());
  return made.ok() ? std::move(made).value() : Array();
}

std::string refusal(std::string_view text, const graph::ValueType& type) {
  const auto made = array_in(text, type);
  return made.ok() ? "taken" : made.error().to_string();
}

TEST(ArrayText, RowsAndPlanes) {
  const Array rows = array("1, 2; 3, 4 ; 5, -6e-1", {DType::f32, {n, 2}});
  EXPECT_THAT(rows.shape, ElementsAre(3, 2));
  EXPECT_FLOAT_EQ(static_cast<float>(number_at(rows, 5)), -0.6F);
  EXPECT_THAT(array("[[1, 2], [3, 4]]", {DType::i32, {n, m}}).shape, ElementsAre(2, 2));
  const Array planes = array("1,2;3,4;;5,6;7,8", {DType::i64, {n, 2, 2}});
  EXPECT_THAT(planes.shape, ElementsAre(2, 2, 2));
  EXPECT_THAT(numbers(planes), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
  EXPECT_THAT(array("[[[1],[2]],[[3],[4]],[[5],[6]]]", {DType::u8, {n, 2, 1}}).shape, ElementsAre(3, 2, 1));
  EXPECT_THAT(array("7", {DType::f32, {}}).shape, ElementsAre());
  EXPECT_THAT(array("1 2 3", {DType::f16, {1, n}}).shape, ElementsAre(1, 3)) << "outer dims may be left out";
  EXPECT_THAT(numbers(array("true, false", {DType::boolean, {2}})), ElementsAre(1, 0));
  EXPECT_EQ(number_at(array("inf", {DType::f32, {1}}), 0), std::numeric_limits<double>::infinity());
}

TEST(ArrayText, WhatIsTypedForNoType) {
  const auto typed = [](std::string_view text) {
    const auto made = array_in(text);
    return made.ok() ? to_string(made->type()) : made.error().to_string();
  };
  EXPECT_EQ(typed("1, 2, 3"), to_string(graph::ValueType{DType::f32, {3}}));
  EXPECT_EQ(typed("i64 1, 2; 3, 4"), to_string(graph::ValueType{DType::i64, {2, 2}}));
  EXPECT_EQ(typed("1;2;;3;4"), to_string(graph::ValueType{DType::f32, {2, 2, 1}}));
  EXPECT_EQ(typed("bf16 [[1, 2, 3], [4, 5, 6]]"), to_string(graph::ValueType{DType::bf16, {2, 3}}));
  EXPECT_EQ(typed("[ [1, 2], [3, 4] ]"), to_string(graph::ValueType{DType::f32, {2, 2}}));
  EXPECT_EQ(typed("random 7 [4, 1, 64]"), to_string(graph::ValueType{DType::f32, {4, 1, 64}}));
  EXPECT_THAT(typed("1, 2; 3"), HasSubstr("Rows are of 2 and of 1"));
  EXPECT_THAT(typed("f32"), HasSubstr("write numbers"));
  EXPECT_THAT(typed(""), HasSubstr("Nothing is given"));
  EXPECT_THAT(typed(std::string(100'000, '[') + "1"), HasSubstr("There are too many brackets"));
  EXPECT_THAT(typed("/nowhere/x.npy"), HasSubstr("cannot be opened"));
}

TEST(ArrayText, Fills) {
  EXPECT_THAT(numbers(array("zeros", {DType::f32, {2}})), ElementsAre(0, 0));
  EXPECT_THAT(numbers(array("ones [3]", {DType::i8, {n}})), ElementsAre(1, 1, 1));
  EXPECT_THAT(numbers(array("fill 0.5 [1, 2]", {DType::bf16, {n, 2}})), ElementsAre(0.5, 0.5));
  EXPECT_THAT(numbers(array("range", {DType::i32, {2, 2}})), ElementsAre(0, 1, 2, 3));
  const graph::ValueType square{DType::f32, {4, 4}};
  EXPECT_EQ(numbers(array("random 7", square)), numbers(array("random 7", square)));
  EXPECT_NE(numbers(array("random 7", square)), numbers(array("random 8", square)));
  const Statistics drawn = statistics_of(array("random [1000]", {DType::f32, {n}}));
  EXPECT_GE(drawn.least, -1);
  EXPECT_LE(drawn.most, 1);
  EXPECT_NEAR(drawn.mean, 0, 0.1);
  EXPECT_EQ(statistics_of(array("random 1 [1000]", {DType::i32, {n}})).least, 0);
}

TEST(ArrayText, TheTypeOfAFillIsToldWithoutItsElements) {
  const auto large = array_type_in("random 7 [100000, 100000]", {DType::f32, {n, m}});  // 40 GB
  ASSERT_TRUE(large.ok()) << large.error().to_string();
  EXPECT_EQ(to_string(*large), "f32[100000, 100000]");
  for (const char* text : {"1, 2; 3, 4", "zeros [2, 2]", "ones [2, 2]", "range [2, 2]", "fill 3 [2, 2]"}) {
    const auto told = array_type_in(text, {DType::i8, {n, m}});
    ASSERT_TRUE(told.ok()) << text << ": " << told.error().to_string();
    EXPECT_EQ(*told, array(text, {DType::i8, {n, m}}).type()) << text;
  }
  for (const char* text :
       {"fill 0.5 [2]", "fill 300 [2]", "range [1000]", "1, 300", "fill [2]", "zeros 1 [2]"}) {
    const auto told = array_type_in(text, {DType::i8, {n}});
    ASSERT_FALSE(told.ok()) << text;
    EXPECT_EQ(told.error().to_string(), refusal(text, {DType::i8, {n}})) << text;
  }
}

TEST(ArrayText, Files) {
  const std::string path = (std::filesystem::temp_directory_path() / "orrery_array_text.npy").string();
  ASSERT_TRUE(write_array(path, array("1, 2", {DType::f32, {2}})).ok());
  EXPECT_THAT(numbers(array(path, {DType::f32, {n}})), ElementsAre(1, 2));
  EXPECT_THAT(refusal(path, {DType::i32, {n}}), HasSubstr("It is f32[2], and i32[n] is asked"));
  EXPECT_THAT(refusal(path, {DType::f32, {n, 2}}), HasSubstr("f32[2]"));
  std::filesystem::remove(path);
  EXPECT_NE(refusal(path, {DType::f32, {n}}), "taken");
}

TEST(ArrayText, WhatDoesNotFitIsToldWithBothShapes) {
  EXPECT_THAT(refusal("1, 2, 3", {DType::f32, {n, 2}}), HasSubstr("It is [3], and f32[n, 2] is asked"));
  EXPECT_THAT(refusal("1; 2", {DType::f32, {2}}), HasSubstr("[2, 1]"));
  EXPECT_THAT(refusal("1, 2; 3", {DType::f32, {n, m}}), HasSubstr("Rows are of 2 and of 1"));
  EXPECT_THAT(refusal("", {DType::f32, {n}}), HasSubstr("Nothing is given"));
  EXPECT_THAT(refusal("1, two", {DType::f32, {n}}), HasSubstr("\"two\" is no number"));
  EXPECT_THAT(refusal("[1, 2", {DType::f32, {n}}), HasSubstr("not closed"));
  EXPECT_THAT(refusal("1]", {DType::f32, {n}}), HasSubstr("closes"));
  EXPECT_THAT(refusal("1.5", {DType::i32, {1}}), HasSubstr("1.5 is no i32"));
  EXPECT_THAT(refusal("300", {DType::u8, {1}}), HasSubstr("300 is no u8"));
  EXPECT_THAT(refusal("2", {DType::boolean, {1}}), HasSubstr("is no bool"));
  EXPECT_THAT(refusal("nan", {DType::i64, {1}}), HasSubstr("is no i64"));
  EXPECT_THAT(refusal("zeros", {DType::f32, {n, 2}}), HasSubstr("how large n is"));
  EXPECT_THAT(refusal("zeros [2, 3]", {DType::f32, {n, 2}}), HasSubstr("[2, 3]"));
  EXPECT_THAT(refusal("zeros 3", {DType::f32, {2}}), HasSubstr("takes no number"));
  EXPECT_THAT(refusal("fill", {DType::f32, {2}}), HasSubstr("needs a number"));
  EXPECT_THAT(refusal("random -1", {DType::f32, {2}}), HasSubstr("no seed"));
  EXPECT_THAT(refusal("range [200]", {DType::i8, {n}}), HasSubstr("199 is no i8"));
  EXPECT_NE(refusal("zeros [1000000000, 1000000000]", {DType::f32, {n, m}}), "taken");
  EXPECT_NE(refusal(std::string(100000, '['), {DType::f32, {n}}), "taken");
  EXPECT_NE(refusal("1" + std::string(100000, ';') + "2", {DType::f32, {n}}), "taken");
}

}  // namespace
}  // namespace orrery::api
