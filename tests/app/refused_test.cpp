// Files that are missing, damaged or of another kind: one line, exit code 1, never a crash.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include "run_cli.h"

namespace orrery::cli::test {
namespace {

using ::testing::ContainsRegex;
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

/// The default model with one matrix said to be NVFP4, whose blocks are smaller than those of Q4_1.
std::string with_foreign_type() {
  std::string file = read_file(models_folder() + "/smollm2/SmolLM2-135M-Instruct.Q4_1.gguf");
  const std::string name = "blk.7.ffn_up.weight";
  const size_t type = file.find(name) + name.size() + 4 + 2 * 8;  // after the count and two dims
  EXPECT_EQ(file.at(type), 3);
  file.at(type) = 40;
  return file;
}

TEST(Refused, AFileOfNoKnownArchitectureIsListedOnly) {
  const std::string data = std::string(ORRERY_TEST_DATA) + "/io/";
  for (const auto& [file, format, tensor] : {std::tuple("arrays/table.npy", "NumPy", "table"),
                                             {"tiny.pt", "PyTorch", "embed.weight"},
                                             {"tiny_f8.safetensors", "safetensors", "e4m3"}}) {
    const auto json = run({"info", data + file, "--json"}).json();
    EXPECT_EQ(json["format"], format);
    EXPECT_THAT(std::string(json["cannot_run"]), HasSubstr("does not say what architecture"));
    const auto found = std::find_if(json["tensors"].begin(), json["tensors"].end(),
                                    [&](const auto& row) { return row["name"] == tensor; });
    EXPECT_NE(found, json["tensors"].end()) << file;
    expect_refused(run({"chat", data + file, "--prompt", "x"}));
  }
}

TEST(Refused, AFileWithATypeThatIsNotRunIsListedOnly) {
  const std::string path = scratch_file("foreign.gguf", with_foreign_type());
  const Outcome info = run({"info", path});
  EXPECT_EQ(info.exit_code, 0) << info.err;
  EXPECT_THAT(info.out, ContainsRegex("cannot run +The tensor \"blk.7.ffn_up.weight\" has the type NVFP4"));
  EXPECT_THAT(info.out, ContainsRegex("layers +30 of width 576"));
  const auto json = run({"info", path, "--json"}).json();
  EXPECT_EQ(json["tensors"].size(), 272U);
  for (const auto& tensor : json["tensors"])
    if (tensor["name"] == "blk.7.ffn_up.weight") {
      EXPECT_EQ(tensor["dtype"], "NVFP4");
      EXPECT_EQ(tensor["bytes"], 576 * 1536 / 64 * 36);
    }
  EXPECT_EQ(run({"info", "smollm2", "--json"}).json()["cannot_run"], "");
  const std::string folder = std::filesystem::path(path).parent_path().string();
  EXPECT_THAT(run({"list", folder}).out, HasSubstr(path));
  const Outcome drawn = run({"graph", path});
  EXPECT_EQ(drawn.exit_code, 0);
  EXPECT_THAT(drawn.out, HasSubstr("layers.29.attention")) << "its shapes tell enough to be drawn";
  EXPECT_THAT(drawn.err, HasSubstr("cannot run: The tensor \"blk.7.ffn_up.weight\" has the type NVFP4"));
  for (const auto& outcome :
       {run({"chat", path, "--prompt", "x"}), run({"graph", path, "--level", "fused"})}) {
    expect_refused(outcome);
    EXPECT_THAT(outcome.err, HasSubstr("\"blk.7.ffn_up.weight\" has the type NVFP4"));
    EXPECT_THAT(outcome.err, HasSubstr("Q4_0, Q4_1, Q5_0"));
  }
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
