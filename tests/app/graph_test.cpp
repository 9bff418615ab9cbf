#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
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

TEST(Graph, WhatIsBypassedIsInBothGraphsAndMarked) {
  const std::string recipe = scratch_file("bypassed.json");
  std::ofstream(recipe) << R"({"orrery_recipe": 1, "edits": [{"op": "bypass", "scope": "layers.3"}]})";
  for (const char* level : {"model", "fused"}) {
    const auto graph = run({"graph", "smollm2", "--level", level, "--recipe", recipe, "--json"}).json();
    size_t bypassed = 0;
    for (const auto& node : graph["nodes"]) {
      if (!node.contains("bypassed")) continue;
      EXPECT_TRUE(node["bypassed"].get<bool>() && node["scope"].get<std::string>().starts_with("layers.3"))
          << node.dump();
      ++bypassed;
    }
    EXPECT_EQ(bypassed, 17U) << level;
  }
}

TEST(Graph, ARecipeChangesTheWayOfAttending) {
  const std::string recipe = scratch_file("fastmax.json");
  std::ofstream(recipe) << R"({"orrery_recipe": 1, "edits": [{"op": "attention", "scope": "layers.0-9",
      "kind": "fastmax", "p": 1, "heads": "0-5"}]})";
  const auto graph = run({"graph", "smollm2", "--recipe", recipe, "--json"}).json();
  size_t fastmax = 0, masks = 0;
  for (const auto& node : graph["nodes"]) {
    masks += node["op"] == "mul" && node["scope"].get<std::string>().ends_with(".attention");
    if (node["op"] != "attention") continue;
    const auto& attributes = node["attributes"];
    EXPECT_EQ(attributes["p"], attributes["kind"] == "fastmax" ? 1 : 2) << node.dump();
    fastmax += attributes["kind"] == "fastmax";
  }
  EXPECT_EQ(fastmax, 10U);
  EXPECT_EQ(masks, 10U);
  const Outcome chat =
      run({"chat", "smollm2", "--prompt", "Hello", "--max-tokens", "4", "--recipe", recipe, "--json"});
  EXPECT_EQ(chat.exit_code, 0) << chat.err;
  const auto plan = run({"plan", "smollm2", "--phase", "decode", "--recipe", recipe, "--json"}).json();
  size_t scans = 0;
  for (const auto& step : plan["steps"]) scans += step["op"] == "fastmax_scan";
  EXPECT_EQ(scans, 10U) << "what is kept of the text is a summary";
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

/// The tiny GGUF file with another architecture.
std::string unknown_gguf() {
  const std::string path = scratch_file("zamba.gguf");
  std::filesystem::remove(path);
  const Outcome saved = run({"metadata", std::string(ORRERY_TEST_DATA) + "/io/tiny.gguf", "--set",
                             "general.architecture=zamba", "--out", path});
  EXPECT_EQ(saved.exit_code, 0) << saved.err;
  return path;
}

/// Likewise a Hugging Face folder.
std::string unknown_folder() {
  const std::string folder = scratch_file("unknown_hf");
  std::filesystem::remove(folder);  // the file that held its place
  std::filesystem::copy(std::string(ORRERY_TEST_DATA) + "/io/tiny_hf", folder,
                        std::filesystem::copy_options::recursive);
  std::string config = read_file(folder + "/config.json");
  config.replace(config.find("\"bert\""), 6, "\"zamba2\"");
  std::ofstream(folder + "/config.json") << config;
  return folder;
}

TEST(Graph, AnUnknownArchitectureIsDrawnByItsTensors) {
  for (const auto& [path, name, tensor, shape] :
       {std::tuple(unknown_gguf(), "zamba", "blk.0.ffn_up.weight", "Q4_1[2, 64]"),
        {unknown_folder(), "zamba2", "embeddings.weight", "f32[3, 4]"}}) {
    const Outcome text = run({"graph", path});
    EXPECT_EQ(text.exit_code, 0) << text.err;
    EXPECT_THAT(text.out, HasSubstr(std::string(tensor) + " " + shape));
    EXPECT_THAT(text.err,
                HasSubstr("cannot run: The architecture \"" + std::string(name) + "\" is not known"));
    for (const char* format : {"dot", "svg"})
      EXPECT_THAT(run({"graph", path, "--format", format}).out, HasSubstr(tensor)) << format;
    const auto json = run({"graph", path, "--json"}).json();
    EXPECT_EQ(json["nodes"].size(), json["values"].size());
    const Outcome fused = run({"graph", path, "--level", "fused"});
    expect_refused(fused);
    EXPECT_THAT(fused.err, HasSubstr("no graph that runs"));
  }
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

TEST(Plan, ListsThePassesWhichCanBeSwitchedOff) {
  const std::vector<std::string> names = {
      "fold_constants",     "split_weights", "merge_low_rank", "remove_dead_nodes",    "summarise_fastmax",
      "fuse_residual_norm", "fuse_qkv",      "fuse_gate_up",   "fuse_bias_activation", "store_rounded"};
  const auto whole = run({"plan", "minilm", "--json"}).json();
  const auto without =
      run({"plan", "--disable-pass", "store_rounded", "--disable-pass", "fuse_qkv", "minilm", "--json"})
          .json();
  ASSERT_EQ(whole["passes"].size(), names.size());
  for (size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(whole["passes"][i]["name"], names[i]);
    EXPECT_NE(whole["passes"][i]["doc"], "");
    EXPECT_EQ(whole["passes"][i]["disabled"], false) << names[i];
    EXPECT_EQ(without["passes"][i]["disabled"], names[i] == "store_rounded" || names[i] == "fuse_qkv");
  }
  EXPECT_GT(whole["passes"][5]["rewrites"], 0) << "fuse_residual_norm";
  EXPECT_GT(without["steps"].size(), whole["steps"].size()) << "queries, keys and values one by one";
  EXPECT_THAT(run({"plan", "minilm"}).out, HasSubstr("store_rounded"));
  const Outcome unknown = run({"plan", "minilm", "--disable-pass", "fuse_all"});
  expect_refused(unknown);
  EXPECT_THAT(unknown.err, HasSubstr("There is no pass \"fuse_all\""));
  EXPECT_THAT(unknown.err, HasSubstr("use one of fold_constants, "));
  EXPECT_THAT(run({"graph", "minilm", "--level", "fused", "--phase", "prefill"}).out,
              HasSubstr("fused_linear("));
}

TEST(Passes, TellWhatTheyDidAndWhatTheyAreWorth) {
  const auto listed = run({"passes", "minilm", "--json"}).json();
  ASSERT_EQ(listed["passes"].size(), 10U);
  for (const auto& pass : listed["passes"]) {
    for (const char* key : {"name", "doc", "disabled", "rewrites", "ms", "nodes_before", "nodes_after"})
      ASSERT_TRUE(pass.contains(key)) << key;
    EXPECT_FALSE(pass.contains("encode")) << "it was not asked for";
  }
  EXPECT_LT(listed["passes"][6]["nodes_after"], listed["passes"][6]["nodes_before"]) << "fuse_qkv";
  const auto measured = run({"passes", "minilm", "--measure", "--pass", "fuse_qkv", "--pass", "split_weights",
                             "--tokens", "16", "--rounds", "2", "--json"})
                            .json();
  ASSERT_EQ(measured["passes"].size(), 2U);
  EXPECT_FALSE(measured["passes"][0].contains("encode")) << "split_weights finds nothing";
  const auto& gain = measured["passes"][1];
  EXPECT_EQ(gain["rounds"], 2);
  EXPECT_GT(gain["encode"]["with"]["us"], 0);
  EXPECT_TRUE(gain["encode"]["within_noise"].is_boolean());
  EXPECT_THAT(
      run({"passes", "minilm", "--measure", "--pass", "fuse_qkv", "--tokens", "16", "--rounds", "2"}).out,
      HasSubstr("without"));
  const Outcome unknown = run({"passes", "minilm", "--pass", "fuse_all"});
  expect_refused(unknown);
  EXPECT_THAT(unknown.err, HasSubstr("There is no pass \"fuse_all\""));
}

}  // namespace
}  // namespace orrery::cli::test
