#include "ui/latency/latency_series.h"

#include <gtest/gtest.h>

namespace orrery::ui {
namespace {

api::TokenEvent token(double ms) {
  api::TokenEvent event;
  event.step_ms = ms;
  return event;
}

TEST(LatencySeries, PrefillIsABlockWhoseAreaIsItsTime) {
  LatencySeries series;
  series.beginReply();
  series.addPrefill({49, 20, 14});
  series.addPrefill({49, 49, 33});
  ASSERT_EQ(series.blocks().size(), 1U);
  EXPECT_EQ(series.blocks()[0].tokens, 49);
  EXPECT_NEAR(series.blocks()[0].perToken() * 49, 33, 1e-9);
  EXPECT_EQ(series.end(), 49);
}

TEST(LatencySeries, FirstTokenBelongsToThePrefill) {
  LatencySeries series;
  series.beginReply();
  series.addPrefill({10, 10, 5});
  for (const double ms : {100.0, 4.0, 5.0}) series.addToken(token(ms));
  ASSERT_EQ(series.samples().size(), 2U);
  EXPECT_EQ(series.samples()[0].ms, 4);
  EXPECT_EQ(series.samples()[0].x, 10);
  EXPECT_EQ(series.decodeStart(1), 10);
}

TEST(LatencySeries, PercentilesRollAndStartAfreshAtAnEdit) {
  LatencySeries series;
  series.beginReply();
  for (int i = 0; i <= 100; ++i) series.addToken(token(i));
  EXPECT_NEAR(series.p50(), 68.5, 1);  // of the last 64 tokens, 37 to 100
  EXPECT_NEAR(series.samples().back().p95, 97, 1.5);
  series.addEdit("bypass layers.3", 68.5);
  EXPECT_EQ(series.marks().back().p50Before, 68.5);
  series.beginReply();
  for (const double ms : {9.0, 2.0, 2.0}) series.addToken(token(ms));
  EXPECT_EQ(series.p50(), 2);
}

TEST(LatencySeries, TextsAreSamplesWithoutAPrefill) {
  LatencySeries series;
  series.beginReply();
  for (const double ms : {3.0, 1.0, 2.0}) series.addText(ms);
  ASSERT_EQ(series.samples().size(), 3U);
  EXPECT_EQ(series.samples()[0].ms, 3) << "the first text is one like the others";
  EXPECT_EQ(series.p50(), 2);
  EXPECT_EQ(series.end(), 3);
}

TEST(LatencySeries, CsvHoldsEveryTokenBlockAndEdit) {
  LatencySeries series;
  series.beginReply();
  series.addPrefill({3, 3, 6});
  for (const double ms : {6.0, 4.5}) series.addToken(token(ms));
  series.addEdit("say \"x\"", 0);
  EXPECT_EQ(series.csv(),
            "kind,reply,token,tokens,ms,p50_ms,p95_ms,name\nprefill,,0,3,6,,,\ndecode,1,3,1,4.5,4.5,4.5,"
            "\nedit,,4,,,,,\"say \"\"x\"\"\"\n");
}

}  // namespace
}  // namespace orrery::ui
