// Verbs that tell what edits cost and change: sweep, diff, recipe.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "run_cli.h"

namespace orrery::cli::test {
namespace {

using ::testing::HasSubstr;

constexpr const char* kText = "The capital of France is Paris.";

TEST(Sweep, TellsOfEveryLayerWhatLeavingItOutCosts) {
  const auto told = run({"sweep", "smollm2", "--what", "bypass-layers", "--text", kText, "--json"}).json();
  EXPECT_TRUE(told["complete"]);
  ASSERT_EQ(told["rows"].size(), 30U);
  EXPECT_EQ(told["rows"][4]["edit"], "bypass scope=layers.4");
  for (const auto& row : told["rows"]) {
    EXPECT_GT(row["kl"], 0);
    EXPECT_LE(row["top1"], 1);
    EXPECT_GT(row["nll"], 0);
    EXPECT_GT(row["tokens_per_second"], 0);
    EXPECT_LT(row["bytes"], told["before"]["bytes"]);
  }
}

TEST(Sweep, GoesOnWithASavedOne) {
  const std::string saved = scratch_file("sweep.json");
  std::filesystem::remove(saved);
  const Words words{"sweep", "smollm2",  "--what", "bypass-layers", "--text", kText,
                    "--csv", "--resume", saved};
  const Outcome begun = run_and_interrupt(words, 10'000);
  const Outcome done = run(words);
  EXPECT_EQ(begun.exit_code, 130) << begun.err;
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_TRUE(done.out.starts_with("scope,edit,kl,")) << done.out;
  EXPECT_EQ(std::ranges::count(done.out, '\n'), 31);
  EXPECT_TRUE(done.out.starts_with(begun.out.substr(0, begun.out.rfind('\n')))) << "rows stay as they were";
  expect_refused(run({"sweep", "smollm2", "--what", "zero-heads", "--text", kText, "--resume", saved}));
}

TEST(Sweep, RefusesWhatIsNoType) {
  expect_refused(run({"sweep", "smollm2", "--what", "quantise-tensors", "--to", "q9", "--text", kText}));
  EXPECT_EQ(run({"sweep", "smollm2", "--what", "everything"}).exit_code, 2);
}

TEST(Mix, ChoosesTypesForASizeAndWritesTheirRecipe) {
  const std::string saved = scratch_file("q4_0.json"), out = scratch_file("mix.json"),
                    model = scratch_file("first-layers.gguf");
  std::filesystem::remove(saved);
  ASSERT_EQ(run({"export", "smollm2", "--edit", "delete scope=layers.10-29", "--out", model}).exit_code, 0);
  ASSERT_EQ(run({"sweep", model, "--what", "quantise-tensors", "--to", "q4_0", "--text", kText, "--resume",
                 saved, "--json"})
                .exit_code,
            0);
  const auto told =
      run({"mix", saved, "--bytes", "42000000", "--out", out, "--measure", model, "--json"}).json();
  EXPECT_LE(told["bytes"], 42'000'000);
  EXPECT_GT(told["bytes"], 38'000'000) << "all as it is but the embedding";
  EXPECT_GT(told["predicted"], 0);
  EXPECT_GT(told["measured"], 0);
  EXPECT_EQ(told["tensors"].size(), 10U * 7 + 1);
  EXPECT_GT(told["curve"].size(), 35U);
  EXPECT_EQ(run({"recipe", "check", model, out}).exit_code, 0);
  const auto bits = run({"mix", saved, "--bits", "5", "--json"}).json();
  EXPECT_LE(bits["bits"], 5);
  EXPECT_GT(bits["bits"], 4.7);
  EXPECT_THAT(run({"mix", saved, "--bits", "5"}).out, HasSubstr("type=q4_0"));
  expect_refused(run({"mix", saved, "--bytes", "1000"}));
  EXPECT_EQ(run({"mix", saved}).exit_code, 2) << "no size";
}

TEST(Patch, TellsWhereTheDifferenceComesFrom) {
  const std::string few = scratch_file("few.json"), recipe = scratch_file("layer.json");
  const std::string first = "bypass scope=layers.0-5", last = "bypass scope=layers.9-29";
  ASSERT_EQ(run({"recipe", "smollm2", "--edit", first, "--edit", last, "--out", few}).exit_code, 0);
  ASSERT_EQ(run({"recipe", "smollm2", "--edit", first, "--edit", last, "--edit",
                 "quantise scope=layers.7 type=q4_0", "--out", recipe})
                .exit_code,
            0);
  const auto told = run({"compare", "smollm2", "--a", "recipe=" + few, "--b", "recipe=" + recipe, "--prompt",
                         kText, "--gen", "2", "--patch", "--json"})
                        .json();
  EXPECT_GT(told["patched_kl"], 0);
  for (const auto& node : told["nodes"]) {
    if (node["node"] == "layers.6.mlp.residual") {
      EXPECT_EQ(node["gone"], 0);
    } else if (node["node"] == "layers.7.mlp.residual") {
      EXPECT_EQ(node["gone"], 1);
    }
  }
}

TEST(Diff, TellsWhatAnEditChanged) {
  const auto told = run({"diff", "smollm2", "--edit", "bypass scope=layers.3", "--json"}).json();
  EXPECT_TRUE(told["added"].empty());
  EXPECT_EQ(told["removed"].size(), 27U) << "the layer with its weights and its state";
  ASSERT_EQ(told["changed"].size(), 2U);
  EXPECT_EQ(told["changed"][0]["node"], "layers.4.attention.norm");
  EXPECT_EQ(told["changed"][0]["a"], "layers.3.mlp.residual:dst");
  EXPECT_EQ(told["changed"][0]["b"], "layers.2.mlp.residual:dst");
  EXPECT_THAT(run({"diff", "smollm2", "smollm2"}).out, HasSubstr("0 added, 0 removed, 0 changed"));
}

TEST(Diff, TellsHowFarWeightsAreApartAndWhatNodesTake) {
  const auto told = run({"diff", "smollm2", "--edit", "quantise scope=layers.7.mlp.down_proj type=q2_k",
                         "--weights", "--time", "--json"})
                        .json();
  size_t apart = 0;
  for (const auto& weight : told["weights"])
    if (weight["max_abs"] != 0) {
      ++apart;
      EXPECT_EQ(weight["weight"], "layers.7.mlp.down_proj.weight");
      EXPECT_EQ(weight["b_dtype"], "Q2_K");
      EXPECT_GT(weight["relative"], 0.02);
      EXPECT_LT(weight["relative"], 0.6) << "two bits are not that bad";
      EXPECT_GT(weight["a_bytes"], weight["b_bytes"]);
    }
  EXPECT_EQ(apart, 1U);
  EXPECT_EQ(told["weights_only_a"], 0);
  EXPECT_GT(told["times"]["step_a_us"], 0);
  EXPECT_GT(told["times"]["nodes"].size(), 400U);
  const std::string text = run({"diff", "smollm2", "--edit", "bypass scope=layers.3", "--weights"}).out;
  EXPECT_THAT(text, HasSubstr("weights: 0 differ"));
  EXPECT_THAT(text, HasSubstr("9 only in a, 0 only in b"));
}

TEST(Compare, PatchesTheNodesThatAreNamed) {
  const auto told = run({"compare", "smollm2", "--a", "threads=2", "--b", "precision=int8", "--prompt",
                         "The sun is", "--raw", "--gen", "2", "--patch-nodes", "layers.28-29.mlp", "--json"})
                        .json();
  EXPECT_EQ(told["patched"], "nodes");
  size_t patched = 0;
  for (const auto& node : told["nodes"])
    if (!node["gone"].is_null()) {
      ++patched;
      EXPECT_THAT(node["node"].get<std::string>(), testing::MatchesRegex("layers[.]2[89][.]mlp[.].*"));
    }
  EXPECT_GT(patched, 8U);
}

TEST(Recipe, IsMadeCheckedShownAndCompared) {
  const std::string one = scratch_file("one.json"), two = scratch_file("two.json");
  const auto made = run({"recipe", "smollm2", "--edit", "bypass scope=layers.3", "--edit",
                         "bypass scope=layers.7", "--out", one, "--name", "two less", "--json"})
                        .json();
  EXPECT_EQ(made["edits"].size(), 2U);
  ASSERT_EQ(run({"recipe", "smollm2", "--edit", "bypass scope=layers.3", "--out", two}).exit_code, 0);
  EXPECT_TRUE(run({"recipe", "check", "smollm2", one, "--json"}).json()["problems"].empty());
  const auto elsewhere = run({"recipe", "check", "minilm", one, "--json"}).json()["problems"];
  ASSERT_EQ(elsewhere.size(), 1U) << "it has 6 layers, and a layer 3";
  EXPECT_EQ(elsewhere[0]["edit"], 1);
  EXPECT_THAT(elsewhere[0]["reason"].get<std::string>(), HasSubstr("another model"));
  const auto shown = run({"recipe", "show", one, "--json"}).json();
  EXPECT_EQ(shown["name"], "two less");
  EXPECT_EQ(shown["edits"], made["edits"]);
  const auto difference = run({"recipe", "diff", one, two, "--json"}).json();
  EXPECT_EQ(difference["removed"], nlohmann::json::array({"bypass scope=layers.7"}));
  EXPECT_TRUE(difference["added"].empty());
  EXPECT_EQ(run({"chat", "smollm2", "--recipe", one, "--prompt", "Hi", "--max-tokens", "1"}).exit_code, 0);
}

TEST(Recipe, IsNotWrittenWhereAnEditIsRefused) {
  const std::string out = scratch_file("none.json");
  std::filesystem::remove(out);
  expect_refused(run({"recipe", "smollm2", "--edit", "bypass scope=layers.99", "--out", out}));
  EXPECT_FALSE(std::filesystem::exists(out));
  EXPECT_EQ(run({"recipe", "smollm2", "--out", out}).exit_code, 2);
  EXPECT_EQ(run({"recipe", "check", "smollm2"}).exit_code, 2);
}

}  // namespace
}  // namespace orrery::cli::test
