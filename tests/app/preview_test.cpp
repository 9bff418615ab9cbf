#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "run_cli.h"

namespace orrery::cli::test {
namespace {

using ::testing::HasSubstr;

TEST(Preview, TellsWhatAnEditWouldDo) {
  const auto told = run({"preview", "smollm2", "--edit", "bypass scope=layers.3", "--prompt",
                         "The capital of France is", "--gen", "8", "--json"})
                        .json();
  EXPECT_TRUE(told["refusals"].empty());
  size_t removed = 0;
  for (const auto& node : told["nodes"]) {
    for (const char* key : {"op", "shape_before", "shape_after", "device_before", "device_after"})
      EXPECT_TRUE(node[key].is_string()) << key;
    if (node["change"] != "removed") continue;
    ++removed;
    EXPECT_THAT(node["node"].get<std::string>(), HasSubstr("layers.3."));
  }
  EXPECT_EQ(removed, 17U);
  EXPECT_FALSE(told["context_kept"]);
  EXPECT_GT(told["tokens_read_again"], 5);
  ASSERT_EQ(told["memory"].size(), 1U);
  EXPECT_LT(told["memory"][0]["after"]["weights"], told["memory"][0]["before"]["weights"]);
  EXPECT_TRUE(told["step_us"]["before_measured"]);
  EXPECT_LT(told["step_us"]["after_estimated"], told["step_us"]["before"]);
}

TEST(Preview, NamesTheEditsThatAreRefused) {
  const auto told = run({"preview", "smollm2", "--edit", "bypass scope=layers.3", "--edit",
                         "bypass scope=layers.77", "--json"})
                        .json();
  ASSERT_EQ(told["refusals"].size(), 1U);
  EXPECT_EQ(told["refusals"][0]["edit"], 1);
  EXPECT_THAT(told["refusals"][0]["reason"].get<std::string>(), HasSubstr("layers.77"));
  EXPECT_TRUE(told["nodes"].empty());
  expect_refused(run({"preview", "smollm2", "--edit", ""}));
}

}  // namespace
}  // namespace orrery::cli::test
