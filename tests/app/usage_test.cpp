// The contract of the command line itself: exit codes, messages, help.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "run_cli.h"

namespace orrery::cli::test {
namespace {

using ::testing::HasSubstr;

const Words kVerbs = {"list",     "info",  "graph",  "plan",  "tokenize", "render",   "chat", "score",
                      "classify", "embed", "rerank", "bench", "profile",  "metadata", "lab",  "attribute"};

TEST(Usage, WrongUsageIsTwoAndOneLine) {
  for (const Words& words : {Words{},
                             Words{"nope"},
                             Words{"serve"},
                             Words{"chat"},
                             Words{"chat", "smollm2", "--nope"},
                             Words{"chat", "smollm2", "--temperature", "warm", "--prompt", "x"},
                             Words{"chat", "smollm2", "--raw"},
                             Words{"chat", "smollm2", "--prompt", "x", "--logit-bias", "12"},
                             Words{"chat", "smollm2", "--prompt", "x", "--logit-bias", "12=x"},
                             Words{"chat", "smollm2", "--json"},
                             Words{"chat", "smollm2", "--prompt", "x", "--max-tokens", "0"},
                             Words{"chat", "smollm2", "--prompt", "x", "--logprobs", "21"},
                             Words{"graph", "smollm2", "--format", "png"},
                             Words{"graph", "smollm2", "--phase", "both"},
                             Words{"score", "smollm2"},
                             Words{"score", "smollm2", "--text", "a", "--file", "b"},
                             Words{"classify", "sentiment"},
                             Words{"classify", "sentiment", "--csv", "x.csv"},
                             Words{"classify", "sentiment", "--text", "a", "--out", "b"},
                             Words{"embed", "minilm"},
                             Words{"render", "--messages", "x.json"},
                             Words{"render", "smollm2"},
                             Words{"bench", "smollm2", "--repeats", "0"},
                             Words{"profile", "smollm2"},
                             Words{"profile", "smollm2", "--prompt", "x", "--tokens", "8"},
                             Words{"info", "smollm2", "--kv-type", "f64"},
                             Words{"info", "smollm2", "--context", "-1"},
                             Words{"info", "smollm2", "surplus"},
                             Words{"--nope"}}) {
    const Outcome outcome = run(words);
    const std::string shown = testing::PrintToString(words);
    EXPECT_EQ(outcome.exit_code, 2) << shown;
    EXPECT_EQ(outcome.out, "") << shown;
    EXPECT_TRUE(outcome.err.starts_with("error: ")) << shown << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << shown << outcome.err;
  }
  EXPECT_THAT(run({"serve"}).err, HasSubstr("list, info, metadata, graph"));  // what exists is told
}

TEST(Usage, HelpOfEveryVerb) {
  const Outcome all = run({"--help"});
  EXPECT_EQ(all.exit_code, 0);
  for (const std::string& verb : kVerbs) {
    EXPECT_THAT(all.out, HasSubstr("\n  " + verb));
    const Outcome outcome = run({verb, "--help"});
    EXPECT_EQ(outcome.exit_code, 0) << verb;
    EXPECT_THAT(outcome.out, HasSubstr("--json")) << verb;
    EXPECT_EQ(outcome.err, "") << verb;
  }
  for (const char* option : {"--repeat-penalty", "--top-k", "--typical", "--dry-multiplier", "--mirostat-tau",
                             "--samplers", "--logit-bias", "--seed", "--context-shift", "--tools"})
    EXPECT_THAT(run({"chat", "--help"}).out, HasSubstr(option));
  EXPECT_THAT(run({"--version"}).out, HasSubstr("orrery-cli "));
}

TEST(Usage, ListKnowsTheDefaultModels) {
  const auto list = run({"list", "--json"}).json();
  std::map<std::string, nlohmann::json> byName;
  for (const auto& entry : list) byName[entry["name"]] = entry;
  for (const char* name : {"smollm2", "minilm", "sentiment"}) {
    ASSERT_TRUE(byName.count(name)) << name;
    for (const char* key : {"path", "format", "architecture", "parameters", "bytes"})
      EXPECT_TRUE(byName[name].contains(key)) << key;
  }
  EXPECT_EQ(byName["smollm2"]["parameters"], 134515008);
  EXPECT_EQ(byName["smollm2"]["architecture"], "llama");
}

TEST(Usage, InfoHasItsKeys) {
  const auto info = run({"info", "smollm2", "--json"}).json();
  EXPECT_EQ(info["architecture"], "llama");
  EXPECT_EQ(info["parameters"], 134515008);
  EXPECT_EQ(info["context_length"], 8192);
  EXPECT_THAT(info["chat_template"].get<std::string>(), HasSubstr("<|im_start|>"));
  ASSERT_EQ(info["tensors"].size(), 272U);
  EXPECT_EQ(info["tensors"][0]["name"], "token_embd.weight");
  EXPECT_EQ(info["tensors"][0]["shape"], (nlohmann::json{49152, 576}));
  for (const char* key : {"name", "format", "bytes", "tokenizer"}) EXPECT_TRUE(info.contains(key)) << key;
  const auto small = run({"info", "smollm2", "--json", "--context", "512"}).json();
  EXPECT_EQ(info["memory"]["kv_cache"].get<uint64_t>(), 16 * small["memory"]["kv_cache"].get<uint64_t>());
  EXPECT_THAT(run({"info", "sentiment"}).out, HasSubstr("negative, neutral, positive"));
}

TEST(Usage, CtrlCIsOneHundredAndThirty) {
  const Outcome chat = run_and_interrupt(
      {"chat", "smollm2", "--prompt", "Count to a thousand.", "--max-tokens", "4000"}, 60000);
  EXPECT_EQ(chat.exit_code, 130) << chat.err;
  EXPECT_THAT(chat.err, ::testing::Not(HasSubstr("error:")));
  const Outcome bench = run_and_interrupt({"bench", "smollm2", "--repeats", "1000", "--json"}, 1500);
  EXPECT_EQ(bench.exit_code, 130) << bench.err;
  EXPECT_EQ(bench.out, "");
}

TEST(Usage, FirstLightWithoutATerminal) {
  const Outcome outcome = run({"first-light"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("neural network"));
  EXPECT_THAT(outcome.out, HasSubstr("tokens/s"));
  EXPECT_THAT(outcome.out, HasSubstr("positive"));
}

}  // namespace
}  // namespace orrery::cli::test
