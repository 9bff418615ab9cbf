#include "engine/runtime/recently_used.h"

#include <gtest/gtest.h>

namespace orrery::runtime {
namespace {

TEST(RecentlyUsed, WhatWasNotAskedForTheLongestGoesAlone) {
  RecentlyUsed<int, int> values(3);
  for (const int key : {1, 2, 3}) values.get(key) = key * 10;
  ASSERT_NE(values.find(1), nullptr);
  values.get(4) = 40;
  EXPECT_EQ(values.find(2), nullptr);
  for (const int key : {1, 3, 4}) {
    ASSERT_NE(values.find(key), nullptr) << key;
    EXPECT_EQ(*values.find(key), key * 10);
  }
  EXPECT_EQ(values.size(), 3U);
}

TEST(RecentlyUsed, AskedForAgainIsTheSame) {
  RecentlyUsed<int, int> values(2);
  values.get(1) = 7;
  values.get(2) = 8;
  EXPECT_EQ(values.get(1), 7);
  EXPECT_EQ(values.get(3), 0) << "new ones are empty";
  EXPECT_EQ(values.find(2), nullptr) << "1 was asked for since";
  values.clear();
  EXPECT_EQ(values.find(1), nullptr);
  EXPECT_EQ(values.size(), 0U);
}

}  // namespace
}  // namespace orrery::runtime
