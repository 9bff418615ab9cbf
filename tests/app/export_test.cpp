// The edited model as a file, from the command line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "run_cli.h"

namespace orrery::cli::test {
namespace {

using ::testing::HasSubstr;

nlohmann::json scored(Words words) {
  const Words how{"--exact", "--text", "The capital of France is Paris.", "--json"};
  words.insert(words.begin(), "score");
  words.insert(words.end(), how.begin(), how.end());
  return run(words).json();
}

TEST(Export, TheFileAnswersAsTheEditedModel) {
  const std::string recipe = scratch_file("recipe.json"), file = scratch_file("edited.gguf");
  ASSERT_EQ(run({"recipe", "smollm2", "--edit", "repeat scope=layers.4-7 times=2", "--edit",
                 "zero node=layers.10.attention.sdpa heads=2", "--out", recipe})
                .exit_code,
            0);
  const auto told = run({"export", "smollm2", "--recipe", recipe, "--out", file, "--json"}).json();
  EXPECT_EQ(told["path"], file);
  EXPECT_EQ(told["bytes"], std::filesystem::file_size(file));
  EXPECT_EQ(run({"info", file, "--json"}).json()["tensors"].size(), 272U + 4 * 9) << "four layers more";
  EXPECT_EQ(scored({file}), scored({"smollm2", "--recipe", recipe}));
  EXPECT_NE(scored({file}), scored({"smollm2"}));
  std::filesystem::remove(file);
}

TEST(Export, WhatTheFileCannotSayIsToldAndNothingWritten) {
  const std::string file = scratch_file("never.gguf");
  std::filesystem::remove(file);
  const Words edit{"--edit", "attention scope=layers.3 kind=fastmax p=2"};
  const auto told = run({"export", "smollm2", edit[0], edit[1], "--dry-run", "--json"}).json();
  ASSERT_EQ(told["problems"].size(), 1U);
  EXPECT_EQ(told["problems"][0]["where"], "layers.3.attention.sdpa");
  EXPECT_THAT(told["problems"][0]["what"].get<std::string>(), HasSubstr("fastmax"));
  const Outcome refused = run({"export", "smollm2", edit[0], edit[1], "--out", file});
  expect_refused(refused);
  EXPECT_THAT(refused.err, HasSubstr("layers.3.attention.sdpa"));
  EXPECT_FALSE(std::filesystem::exists(file));
  expect_refused(run({"export", "smollm2"}));
}

}  // namespace
}  // namespace orrery::cli::test
