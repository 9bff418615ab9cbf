// --device: on the test module's devices, and where there are none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "run_cli.h"
#include "tests/support/trace_checks.h"
#include "tests/support/variable.h"

namespace orrery::cli::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class OnDevice : public testing::Test {
  const Variable module_{"ORRERY_CUDA_MODULE", ORRERY_FAKE_DEVICE};
};

TEST_F(OnDevice, EveryVerbThatOpensASessionRuns) {
  const auto reply = [](const char* device) {
    return run({"chat", "smollm2", "--raw", "--prompt", "Once upon a time", "--max-tokens", "20",
                "--temperature", "0", "--json", "--device", device})
        .json();
  };
  EXPECT_EQ(reply("cuda:0")["text"], reply("cpu")["text"]);
  const auto plan = run({"plan", "smollm2", "--json", "--device", "cuda:1"}).json();
  EXPECT_EQ(plan["steps"][0]["device"], "cuda:1");
  EXPECT_THAT(plan["steps"][0]["kernel"].get<std::string>(), StartsWith("cuda."));
  const auto bench =
      run({"bench", "smollm2", "--prompt", "8", "--gen", "2", "--repeats", "1", "--json", "--device", "cuda"})
          .json();
  EXPECT_EQ(bench["device"], "cuda:0");
  EXPECT_GT(bench["decode"]["tokens_per_second"], 0);
  for (const Words& words : {Words{"score", "smollm2", "--text", "The sea is blue", "--device", "cuda:0"},
                             Words{"classify", "sentiment", "--text", "Good", "--device", "cuda:0"},
                             Words{"embed", "minilm", "--text", "Good", "--device", "cuda:0"},
                             Words{"graph", "smollm2", "--level", "fused", "--device", "cuda:0"}}) {
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.exit_code, 0) << words.front() << outcome.err;
  }
}

TEST_F(OnDevice, ProfileRunsTwoDevicesBesideEachOther) {
  const std::string trace = scratch_file("trace.json");
  const auto profile = run({"profile", "smollm2", "--prompt", "Hello there", "--gen", "20", "--out", trace,
                            "--json", "--device", "cuda:0", "--beside", "cpu"})
                           .json();
  EXPECT_EQ(profile["device"], "cuda:0");
  EXPECT_EQ(profile["beside"]["device"], "cpu");
  for (const auto& side : {profile, profile["beside"]})
    for (const char* phase : {"prefill", "decode"}) EXPECT_GT(side["phases"][phase].size(), 100U) << phase;
  const auto threads = orrery::test::read_trace(nlohmann::json::parse(read_file(trace)));
  const auto &card = threads.at("cuda:0 steps").spans, &cpu = threads.at("cpu steps").spans;
  EXPECT_EQ(card.size(), 20U) << "the warm-up is not in it";
  EXPECT_EQ(cpu.size(), 20U);
  EXPECT_LT(card.front().begin, cpu.back().end);
  EXPECT_LT(cpu.front().begin, card.back().end);
  orrery::test::expect_nodes_in_steps(threads.at("cuda:0 nodes"), threads.at("cuda:0 steps"));
}

TEST_F(OnDevice, ProfileBesideRefuses) {
  const Words words{"profile", "smollm2", "--prompt", "x", "--device", "cuda:0", "--beside"};
  const auto beside = [&](const char* device) {
    Words all = words;
    all.emplace_back(device);
    const Outcome outcome = run(all);
    expect_refused(outcome);
    return outcome.err;
  };
  EXPECT_THAT(beside("cuda"), HasSubstr("--beside"));
  EXPECT_THAT(beside("cuda:7"), HasSubstr("cuda:7"));
}

TEST_F(OnDevice, InfoSaysWhetherItFits) {
  const Variable memory("ORRERY_FAKE_DEVICE_MB", "400");
  const auto devices_at = [](const char* context) {
    return run({"info", "smollm2", "--context", context, "--json"}).json()["memory"]["devices"];
  };
  const auto little = devices_at("512"), much = devices_at("8192");
  ASSERT_EQ(little.size(), 4U);
  EXPECT_EQ(little[0]["device"], "cpu");
  EXPECT_EQ(little[1]["device"], "cuda:0");
  EXPECT_EQ(little[1]["total"], 400 << 20);
  EXPECT_TRUE(little[1]["fits"]);
  EXPECT_TRUE(much[1]["fits"]);
  const Variable less("ORRERY_FAKE_DEVICE_MB", "200");
  const auto full = devices_at("8192")[1];
  EXPECT_FALSE(full["fits"]) << "189 MB of KV cache beside 97 MB of weights";
  EXPECT_EQ(full["fit"], "too large");
  EXPECT_GT(full["weights"].get<int64_t>() + full["kv_cache"].get<int64_t>() + full["scratch"].get<int64_t>(),
            200 << 20);
  EXPECT_GT(full["largest_context"], 2048);
  EXPECT_TRUE(devices_at("2048")[1]["fits"]);
  EXPECT_THAT(run({"info", "smollm2", "--context", "8192"}).out, HasSubstr("does not fit"));
}

TEST_F(OnDevice, WhatDoesNotFitIsRefusedUnlessToldOtherwise) {
  const Variable little("ORRERY_FAKE_DEVICE_MB", "64");
  const Outcome refused = run({"chat", "smollm2", "--prompt", "x", "--device", "cuda:0"});
  expect_refused(refused);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("of KV cache at 8192 tokens"), HasSubstr("--device cpu")));
  const Outcome anyhow = run({"chat", "smollm2", "--prompt", "x", "--device", "cuda:0", "--no-memory-check"});
  expect_refused(anyhow);
  EXPECT_THAT(anyhow.err, HasSubstr("for a weight do not fit: Test device (cuda:0) has "));
}

TEST_F(OnDevice, CompareTellsWhatTheContractSays) {
  const Words words{"compare",  "smollm2", "--a",   "device=cpu", "--b",   "device=cuda:0",
                    "--prompt", "Say hi.", "--gen", "6",          "--json"};
  const auto result = run(words).json();
  EXPECT_LT(result["kl"], 1e-6);
  EXPECT_EQ(result["top1_agreement"], 1.0);
  EXPECT_TRUE(result["first_divergent"].is_null());
  EXPECT_EQ(result["text_a"], result["text_b"]);
  EXPECT_GT(result["total_a_ms"], 0);
  EXPECT_GT(result["total_b_ms"], 0);
  ASSERT_GT(result["nodes"].size(), 100U);
  for (const char* key : {"node", "a_us", "b_us", "max_abs", "nmse", "cosine"})
    EXPECT_TRUE(result["nodes"][0].contains(key)) << key;
  const Outcome table =
      run({"compare", "sentiment", "--a", "precision=exact", "--b", "fusion=off", "--prompt", "x"});
  EXPECT_EQ(table.exit_code, 0) << table.err;
  EXPECT_THAT(table.out, HasSubstr("no node differs noticeably"));
  expect_refused(run({"compare", "smollm2", "--a", "speed=9", "--b", "", "--prompt", "x"}));
  expect_refused(run({"compare", "smollm2", "--a", "device=cuda:9", "--b", "device=cpu", "--prompt", "x"}));
  EXPECT_EQ(run({"compare", "smollm2", "--prompt", "x"}).exit_code, 2);
}

TEST_F(OnDevice, ARecipePlacesPartsOfAModel) {
  const std::string recipe = scratch_file("placed.json");
  std::ofstream(recipe) << R"({"orrery_recipe": 1, "edits": [
    {"op": "place", "scope": "layers.0-3", "device": "cuda:0"}]})";
  const auto reply = [&](const Words& more) {
    Words words{"chat",         "smollm2", "--raw",         "--prompt", "Once upon a time",
                "--max-tokens", "12",      "--temperature", "0",        "--json"};
    words.insert(words.end(), more.begin(), more.end());
    return run(words).json();
  };
  EXPECT_EQ(reply({"--recipe", recipe})["text"], reply({})["text"]);
  const Variable lacking("ORRERY_FAKE_DEVICE_LACKS", "attention");
  const Outcome plan = run({"plan", "smollm2", "--recipe", recipe});
  EXPECT_THAT(plan.out, HasSubstr("transfer"));
  EXPECT_THAT(plan.out, HasSubstr("not on cuda:0 as asked: No CUDA kernel can run this attention"));
  const std::string dot =
      run({"graph", "smollm2", "--level", "fused", "--format", "dot", "--recipe", recipe}).out;
  EXPECT_THAT(dot, HasSubstr("transfer\nlayers.0."));
  const Variable none("ORRERY_FAKE_DEVICE_REFUSES", "the NVIDIA driver is not loaded");
  const Outcome refused = run({"chat", "smollm2", "--prompt", "x", "--recipe", recipe});
  expect_refused(refused);
  EXPECT_THAT(refused.err, HasSubstr("driver is not loaded"));
}

TEST_F(OnDevice, RefusalsAreOneLine) {
  for (const char* device : {"cuda:5", "cuda:", "gpu"}) {
    const Outcome outcome = run({"chat", "smollm2", "--prompt", "x", "--device", device});
    expect_refused(outcome);
    EXPECT_THAT(outcome.err, HasSubstr("--device"));
  }
  const Variable none("ORRERY_FAKE_DEVICE_REFUSES", "the NVIDIA driver is not loaded");
  const Outcome outcome = run({"bench", "smollm2", "--device", "cuda:0"});
  expect_refused(outcome);
  EXPECT_THAT(outcome.err, HasSubstr("driver is not loaded"));
}

TEST(WithoutADevice, TheModuleIsNamed) {
  const Variable module("ORRERY_CUDA_MODULE", "/no/such/module.so");
  const Outcome outcome = run({"chat", "smollm2", "--prompt", "x", "--device", "cuda:0"});
  expect_refused(outcome);
  EXPECT_THAT(outcome.err, HasSubstr("CUDA module"));
  EXPECT_THAT(run({"info", "smollm2"}).out, HasSubstr("cannot be used"));
}

}  // namespace
}  // namespace orrery::cli::test
