#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "run_cli.h"

namespace orrery::cli::test {
namespace {

using ::testing::HasSubstr;

TEST(Graph, JsonIsWholeAndOrdered) {
  const auto graph = run({"graph", "smollm2", "--format", "json"}).json();
  std::set<int> made;
  size_t attention = 0;
  for (const auto& node : graph["nodes"]) {
    for (const char* key : {"id", "op", "scope", "attributes", "inputs", "outputs", "origins"})
      ASSERT_TRUE(node.contains(key)) << key;
    for (const int input : node["inputs"]) EXPECT_TRUE(input == 0 || made.count(input)) << node.dump();
    for (const int output : node["outputs"]) made.insert(output);
    attention += node["op"] == "attention";
  }
  EXPECT_EQ(attention, 30U);
  ASSERT_EQ(graph["values"].size(), made.size());
  for (const char* key : {"id", "name", "kind", "dtype", "shape"})
    EXPECT_TRUE(graph["values"][0].contains(key)) << key;
}

TEST(Graph, FusedNodesKeepTheirOrigins) {
  const auto graph = run({"graph", "smollm2", "--level", "fused", "--json"}).json();
  size_t fused = 0;
  for (const auto& node : graph["nodes"]) {
    if (node["origins"].size() < 2) continue;
    ++fused;
    double share = 0;
    for (const auto& origin : node["origins"]) share += origin["share"].get<double>();
    EXPECT_NEAR(share, 1.0, 1e-6);
  }
  EXPECT_GE(fused, 30U);
}

TEST(Graph, TextDotAndSvg) {
  EXPECT_THAT(run({"graph", "smollm2"}).out, HasSubstr("layers.29.attention"));
  const std::string dot = run({"graph", "minilm", "--format", "dot"}).out;
  EXPECT_TRUE(dot.starts_with("digraph orrery {"));
  EXPECT_THAT(dot, HasSubstr(" -> "));
  EXPECT_EQ(std::count(dot.begin(), dot.end(), '{'), std::count(dot.begin(), dot.end(), '}'));
  const std::string svg = run({"graph", "minilm", "--format", "svg"}).out;
  EXPECT_TRUE(svg.starts_with("<svg "));
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
  EXPECT_THAT(svg, HasSubstr("layers.5.mlp"));
  const auto count = [&](const std::string& part) {
    size_t found = 0;
    for (size_t at = svg.find(part); at != std::string::npos; at = svg.find(part, at + 1)) ++found;
    return found;
  };
  EXPECT_EQ(count("<g"), count("</g>"));
  EXPECT_EQ(count("<text"), count("</text>"));
}

TEST(Plan, EveryStepHasItsKernelAndRefusals) {
  for (const char* phase : {"prefill", "decode"}) {
    const auto plan = run({"plan", "smollm2", "--phase", phase, "--json"}).json();
    ASSERT_GT(plan["steps"].size(), 100U);
    EXPECT_GT(plan["arena_bytes"].get<uint64_t>(), 0U);
    for (const auto& step : plan["steps"]) {
      for (const char* key :
           {"node", "op", "device", "asked", "reason", "kernel", "refused", "flops", "bytes"})
        ASSERT_TRUE(step.contains(key)) << key;
      EXPECT_NE(step["kernel"], "") << step["node"];
      for (const auto& refusal : step["refused"]) EXPECT_NE(refusal["reason"], "");
    }
  }
}

}  // namespace
}  // namespace orrery::cli::test
