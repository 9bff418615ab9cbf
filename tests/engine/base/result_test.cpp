#include "engine/base/result.h"

#include <gtest/gtest.h>

#include <memory>

namespace orrery {
namespace {

Result<int> half(int number) {
  if (number % 2 != 0)
    return Error{ErrorCode::invalid_argument, "The number is odd", std::to_string(number), ""};
  return number / 2;
}

Result<int> quarter(int number) {
  ORRERY_ASSIGN(const int once, half(number));
  ORRERY_ASSIGN(const int twice, half(once));
  return twice;
}

Result<void> check(int number) {
  ORRERY_TRY(quarter(number));
  return {};
}

TEST(Result, HoldsAValueOrAnError) {
  EXPECT_EQ(*half(8), 4);
  EXPECT_FALSE(half(7).ok());
  EXPECT_EQ(half(7).error().code, ErrorCode::invalid_argument);
}

TEST(Result, TheFirstErrorReturnsFromTheCaller) {
  EXPECT_EQ(*quarter(12), 3);
  EXPECT_EQ(quarter(6).error().where, "3");
  EXPECT_TRUE(check(4).ok());
  EXPECT_EQ(check(5).error().where, "5");
}

TEST(Result, MovesWhatCannotBeCopied) {
  Result<std::unique_ptr<int>> made(std::make_unique<int>(3));
  std::unique_ptr<int> taken = std::move(made).value();
  EXPECT_EQ(*taken, 3);
}

TEST(Error, SaysWhatWhereAndWhatToDo) {
  EXPECT_EQ((Error{ErrorCode::io, "It cannot be read", "a.gguf", "Choose another"}.to_string()),
            "It cannot be read (a.gguf): Choose another");
  EXPECT_EQ((Error{ErrorCode::io, "It cannot be read", "", ""}.to_string()), "It cannot be read");
}

}  // namespace
}  // namespace orrery
