// Tables through the classifier.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/base/csv.h"
#include "run_cli.h"

namespace orrery::cli::test {
namespace {

using ::testing::HasSubstr;

TEST(ClassifyTable, MetricsAndTheWrittenTable) {
  const std::string table =
      scratch_file("in.csv",
                   "\xEF\xBB\xBFid,review,mood\r\n1,\"I loved it, \"\"truly\"\"\",Positive\r\n"
                   "2,\"Terrible.\nA waste of time.\",negative\r\n3,I hated every second,positive\r\n");
  const std::string out = scratch_file("out.csv");
  const Outcome outcome = run({"classify", "sentiment", "--csv", table, "--text-column", "review",
                               "--label-column", "mood", "--out", out, "--json"});
  const auto document = outcome.json();
  ASSERT_EQ(document["results"].size(), 3U);
  EXPECT_EQ(document["results"][0]["text"], "I loved it, \"truly\"");
  EXPECT_EQ(document["results"][1]["text"], "Terrible.\nA waste of time.");
  EXPECT_NEAR(document["accuracy"].get<double>(), 2.0 / 3.0, 1e-9);
  EXPECT_EQ(document["confusion"]["positive"]["negative"], 1);
  EXPECT_EQ(document["confusion"]["positive"]["positive"], 1);
  const auto written = parse_csv(read_file(out));
  ASSERT_TRUE(written.ok()) << written.error().to_string();
  EXPECT_EQ(written->header, (std::vector<std::string>{"id", "review", "mood", "predicted", "p_negative",
                                                       "p_neutral", "p_positive"}));
  ASSERT_EQ(written->rows.size(), 3U);
  EXPECT_EQ(written->rows[1][1], "Terrible.\nA waste of time.");
  EXPECT_EQ(written->rows[1][3], "negative");
}

TEST(ClassifyTable, WhatIsWrongIsTold) {
  const std::string table = scratch_file("in.csv", "a,b\n1,2\n");
  const Outcome column = run({"classify", "sentiment", "--csv", table, "--text-column", "text"});
  expect_refused(column);
  EXPECT_THAT(column.err, HasSubstr("a, b"));
  for (const char* bad : {"a,b\n1\n", "a,b\n\"1,2\n", "a,b\n\"1\"x,2\n", ""})
    expect_refused(
        run({"classify", "sentiment", "--csv", scratch_file("bad.csv", bad), "--text-column", "a"}));
  expect_refused(run(
      {"classify", "sentiment", "--csv", table, "--text-column", "a", "--out", "/no/such/folder/out.csv"}));
  expect_refused(run({"classify", "smollm2", "--text", "x"}));
  expect_refused(run({"classify", "sentiment", "--texts", scratch_file("bad.json", "[1]")}));
}

TEST(ClassifyTable, PlainOutputIsALineEach) {
  const Outcome outcome = run({"classify", "sentiment", "--text", "I loved it.", "Awful."});
  EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 2);
  EXPECT_TRUE(outcome.out.starts_with("positive")) << outcome.out;
}

TEST(ClassifyTable, TextsArriveAsTheyAre) {
  const Words texts = {"[a, b]", "", "list", "-5 degrees", "two\nlines", "a,b"};
  Words words = {"embed", "minilm", "--json", "--text"};
  words.insert(words.end(), texts.begin(), texts.end());
  words.insert(words.end(), {"--text=--dashes", "--quiet"});
  const auto document = run(words).json();
  ASSERT_EQ(document.size(), texts.size() + 1);
  for (size_t i = 0; i < texts.size(); ++i) EXPECT_EQ(document[i]["text"], texts[i]);
  EXPECT_EQ(document[texts.size()]["text"], "--dashes");
  EXPECT_EQ(run({"embed", "minilm", "--text", "--json"}).exit_code, 2);
}

}  // namespace
}  // namespace orrery::cli::test
