#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "run_cli.h"

namespace orrery::cli::test {
namespace {

using ::testing::HasSubstr;

/// What the linears of a model compute in here.
std::string computes(const std::string& model, const std::vector<std::string>& options = {}) {
  std::vector<std::string> arguments = {"plan", model, "--json"};
  arguments.insert(arguments.end(), options.begin(), options.end());
  const nlohmann::json plan = run(arguments).json();
  for (const auto& step : plan["steps"])
    if (step["op"] == "fused_linear") return step["computes"].get<std::string>();
  return {};
}

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

TEST(Preview, MeasuresWhatAnEditCosts) {
  const auto decoder =
      run({"preview", "smollm2", "--edit", "precision scope=* dtype=exact", "--measure", "--json"})
          .json()["measured"];
  EXPECT_LT(decoder["kl"], 1e-4);
  EXPECT_GE(decoder["top1_agreement"], 0.98);
  EXPECT_TRUE(decoder["cosine"].is_null());
  EXPECT_GT(decoder["tokens"], 100);
  const auto encoder = run({"preview", "minilm", "--edit", "precision scope=* dtype=exact", "--measure",
                            "--text", "A short text.", "--json"})
                           .json()["measured"];
  EXPECT_GE(encoder["cosine"], 0.9995);
  EXPECT_TRUE(encoder["kl"].is_null());
  EXPECT_LT(encoder["tokens"], 10);
  EXPECT_THAT(run({"preview", "minilm", "--edit", "precision scope=* dtype=exact", "--measure"}).out,
              HasSubstr(computes("minilm") == "bf16" ? "cosine 0.999" : "cosine 1.000"));
  const auto plain = run({"preview", "minilm", "--edit", "precision scope=* dtype=exact", "--json"}).json();
  EXPECT_FALSE(plain.contains("measured"));
}

TEST(Precision, IsAnOptionOfAllThatRun) {
  EXPECT_EQ(computes("smollm2"), "int16");
  EXPECT_EQ(computes("smollm2", {"--exact"}), "float32");
  EXPECT_EQ(computes("smollm2", {"--precision", "exact"}), "float32");
  EXPECT_EQ(computes("smollm2", {"--precision", "balanced"}), "int16");
  const auto bf16 = run({"plan", "smollm2", "--precision", "bf16"}).out;
  EXPECT_THAT(bf16, HasSubstr("asked bf16, computes in int16: Q4_1 weights are not dense"));
  EXPECT_EQ(run({"plan", "smollm2", "--precision", "fp8"}).exit_code, 2);
  EXPECT_EQ(run({"plan", "smollm2", "--precision", "bf16", "--exact"}).exit_code, 2);
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
