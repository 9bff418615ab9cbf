#include "engine/base/metadata.h"

#include <gtest/gtest.h>

#include <limits>

namespace orrery {
namespace {

TEST(Metadata, FindsByKeyAndType) {
  Metadata metadata;
  metadata.set("layers", int64_t{30});
  metadata.set("name", std::string("smol"));
  metadata.set("labels", std::vector<std::string>{"a", "b"});
  EXPECT_EQ(metadata.integer("layers"), 30);
  EXPECT_EQ(metadata.number("layers"), 30.0);
  EXPECT_EQ(*metadata.text("name"), "smol");
  EXPECT_EQ(metadata.texts("labels")->size(), 2u);
  EXPECT_EQ(metadata.text("layers"), nullptr);
  EXPECT_EQ(metadata.integer("name"), std::nullopt);
  EXPECT_EQ(metadata.flag("layers"), std::nullopt);
  EXPECT_EQ(metadata.find("none"), nullptr);
}

TEST(Metadata, ConvertsNumbersOnlyWhereExact) {
  Metadata metadata;
  metadata.set("whole", 12.0);
  metadata.set("part", 12.5);
  metadata.set("large", 1e300);
  metadata.set("nan", std::numeric_limits<double>::quiet_NaN());
  metadata.set("yes", true);
  EXPECT_EQ(metadata.integer("whole"), 12);
  EXPECT_EQ(metadata.integer("part"), std::nullopt);
  EXPECT_EQ(metadata.integer("large"), std::nullopt);
  EXPECT_EQ(metadata.integer("nan"), std::nullopt);
  EXPECT_EQ(metadata.integer("yes"), 1);
}

TEST(Metadata, ALaterValueReplacesAnEarlier) {
  Metadata metadata;
  metadata.set("key", int64_t{1});
  metadata.set("key", std::string("one"));
  EXPECT_EQ(metadata.integer("key"), std::nullopt);
  EXPECT_EQ(metadata.all().size(), 1u);
}

}  // namespace
}  // namespace orrery
