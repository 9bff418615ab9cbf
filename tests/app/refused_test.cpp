// Files that are missing, damaged or of another kind: one line, exit code 1, never a crash.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include "run_cli.h"

namespace orrery::cli::test {
namespace {

using ::testing::HasSubstr;

TEST(Refused, WhatIsNotThere) {
  for (const char* verb : {"info", "graph", "plan", "tokenize", "bench"}) {
    const Outcome outcome = run({verb, "/no/such/model.gguf"});
    expect_refused(outcome);
    EXPECT_THAT(outcome.err, HasSubstr("/no/such/model.gguf")) << verb;
  }
  expect_refused(run({"chat", "nosuchmodel", "--prompt", "x"}));
  expect_refused(run({"score", "smollm2", "--file", "/no/such/file"}));
  expect_refused(run({"score", "smollm2", "--file", "/tmp"}));
  expect_refused(run({"chat", "smollm2", "--prompt", "x", "--recipe", "/no/such/recipe.json"}));
  expect_refused(run({"classify", "minilm", "--adapter", "/no/such/adapter", "--text", "x"}));
  expect_refused(run({"chat", "smollm2", "--prompt", "x", "--device", "abacus"}));
  expect_refused(run({"chat", "smollm2", "--prompt", "x", "--temperature", "-1"}));
  expect_refused(run({"embed", "smollm2", "--text", "x", "--threads", "1", "--device", "cuda:99"}));
  expect_refused(run({"chat", "minilm", "--prompt", "x"}));
}

TEST(Refused, DamagedFiles) {
  const std::string whole = read_file(models_folder() + "/smollm2/SmolLM2-135M-Instruct.Q4_1.gguf");
  for (const size_t size :
       {size_t{0}, size_t{3}, size_t{16}, size_t{5000}, size_t{1} << 20, whole.size() / 2}) {
    const std::string path = scratch_file("cut.gguf", whole.substr(0, size));
    expect_refused(run({"info", path}));
    expect_refused(run({"chat", path, "--prompt", "x"}));
  }
  std::mt19937_64 random(3);
  std::string noise(100'000, '\0');
  for (char& byte : noise) byte = static_cast<char>(random());
  expect_refused(run({"info", scratch_file("noise.gguf", noise)}));
  expect_refused(run({"info", scratch_file("text.gguf", "this is no model\n")}));
  expect_refused(run({"info", std::filesystem::path(scratch_file("x")).parent_path().string()}));
}

TEST(Refused, FlippedBytesInTheHeader) {
  // Every outcome but a crash, a hang or a silent failure is fine.
  std::string head = read_file(models_folder() + "/smollm2/SmolLM2-135M-Instruct.Q4_1.gguf");
  std::mt19937_64 random(11);
  for (int round = 0; round < 6; ++round) {
    std::string damaged = head;
    for (int i = 0; i < 3; ++i) damaged[random() % 3000] ^= static_cast<char>(1 << random() % 8);
    const Outcome outcome = run({"info", scratch_file("flip.gguf", damaged)});
    EXPECT_TRUE(outcome.exit_code == 0 || outcome.exit_code == 1) << outcome.exit_code;
    if (outcome.exit_code == 1) expect_refused(outcome);
  }
}

}  // namespace
}  // namespace orrery::cli::test
