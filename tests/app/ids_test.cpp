// What runs on token ids: benches, with the context that they need, and all that a model without a vocabulary
// can do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "run_cli.h"

namespace orrery::cli::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// The tiny Llama that says it has no vocabulary, made for `context` tokens.
std::string no_vocabulary(int context) {
  const std::string path = scratch_file("no_vocab_" + std::to_string(context) + ".gguf");
  std::filesystem::remove(path);  // what held its place
  const Outcome saved = run({"metadata", std::string(ORRERY_TEST_DATA) + "/models/llama/model.gguf", "--set",
                             "tokenizer.ggml.model=no_vocab", "--set",
                             "llama.context_length=" + std::to_string(context), "--out", path});
  EXPECT_EQ(saved.exit_code, 0) << saved.err;
  return path;
}

Outcome bench(const std::string& model, const Words& more) {
  Words words = {"bench", model, "--repeats", "1", "--json"};
  words.insert(words.end(), more.begin(), more.end());
  return run(words);
}

TEST(Bench, TheContextGrowsWithTheDepth) {
  const std::string model = no_vocabulary(32768);
  const auto deep = bench(model, {"--depth", "8192", "--prompt", "0", "--gen", "4"}).json();
  EXPECT_GT(deep["decode"]["tokens_per_second"].get<double>(), 0.0);
  const Outcome chosen = bench(model, {"--context", "256", "--depth", "256", "--prompt", "0", "--gen", "4"});
  expect_refused(chosen);
  EXPECT_THAT(chosen.err, AllOf(HasSubstr("260 tokens, 256 were chosen"), HasSubstr("choose 260 or more")));
}

TEST(Bench, NoFurtherThanTheModel) {
  const std::string model = no_vocabulary(128);
  EXPECT_TRUE(bench(model, {"--depth", "124", "--prompt", "0", "--gen", "4"}).json().contains("decode"));
  for (const Words& more : {Words{"--depth", "125", "--prompt", "0", "--gen", "4"},
                            Words{"--depth", "100", "--prompt", "28", "--gen", "0"}}) {
    const Outcome refused = bench(model, more);
    expect_refused(refused);
    EXPECT_THAT(refused.err, HasSubstr("a context of 129 tokens, the model was made for 128"));
  }
  expect_refused(bench(no_vocabulary(9000), {"--depth", "8997", "--prompt", "0", "--gen", "4"}));
}

/// Keys grow with the text; a state of fixed size does not.
TEST(Bench, OneTextAtRisingDepths) {
  const std::string model = no_vocabulary(4096);
  const Words depths{"--depths", "100,600,2000", "--gen", "2"};
  const auto bytes_at = [](const nlohmann::json& told) {
    std::vector<uint64_t> bytes;
    for (const auto& depth : told["depths"]) {
      EXPECT_GT(depth["ms_per_token"].get<double>(), 0.0);
      bytes.push_back(depth["context_bytes"].get<uint64_t>());
    }
    return bytes;
  };
  Words fast = depths;
  fast.insert(fast.end(), {"--edit", "attention scope=layers.* kind=fastmax"});
  const std::vector<uint64_t> keys = bytes_at(bench(model, depths).json()),
                              state = bytes_at(bench(model, fast).json());
  ASSERT_EQ(keys.size(), 3U);
  ASSERT_EQ(state.size(), 3U);
  EXPECT_GE(keys[2], keys[1]);
  EXPECT_EQ(state[2], state[1]);
  expect_refused(bench(model, {"--depths", "100,much"}));
  expect_refused(bench(model, {"--depths", "100,50"}));
}

TEST(NoVocabulary, GraphPlanBenchAndProfileNeedNone) {
  const std::string model = no_vocabulary(128);
  EXPECT_EQ(run({"info", model, "--json"}).json()["cannot_run"], "");
  const Outcome graph = run({"graph", model, "--level", "fused"});
  EXPECT_THAT(graph.out, HasSubstr("layers.2.attention"));
  EXPECT_EQ(graph.err, "");
  EXPECT_GT(run({"plan", model, "--json"}).json()["steps"].size(), 10U);
  const auto rates = bench(model, {"--prompt", "32", "--gen", "8", "--batch", "2"}).json();
  EXPECT_EQ(rates["prefill"]["tokens"], 64);
  EXPECT_EQ(rates["decode"]["tokens"], 16);
  const auto profile = run({"profile", model, "--tokens", "32", "--gen", "4", "--json"}).json();
  for (const char* phase : {"prefill", "decode"}) EXPECT_GT(profile["phases"][phase].size(), 10U) << phase;
}

TEST(NoVocabulary, TextIsRefusedWithTheReason) {
  const std::string model = no_vocabulary(128);
  const std::string messages = scratch_file("m.json", R"([{"role":"user","content":"x"}])");
  for (const Words& words :
       {Words{"chat", model, "--prompt", "x"}, Words{"chat", model, "--prompt", "x", "--raw"},
        Words{"score", model, "--text", "x"}, Words{"tokenize", model},
        Words{"render", model, "--messages", messages}, Words{"profile", model, "--prompt", "x"},
        Words{"compare", model, "--a", "threads=1", "--b", "threads=2", "--prompt", "x"}}) {
    const Outcome refused = run(words, "x");
    expect_refused(refused);
    EXPECT_THAT(refused.err, HasSubstr("has no vocabulary, so it neither reads nor writes text")) << words[0];
  }
}

}  // namespace
}  // namespace orrery::cli::test
