// Values of one side put into the other: nothing goes away before the two part, and all of it after.
#include "engine/api/patch.h"

#include <gmock/gmock.h>

#include "engine/api/compare.h"
#include "tests/engine/api/test_models.h"

namespace orrery::api {
namespace {

constexpr const char* kPatchText = "The capital of France is Paris, and that of Italy is Rome.";

/// The model without these layers, as each of its nodes is run for.
std::shared_ptr<Session> open_without(const std::vector<std::string>& layers) {
  const auto session = open_or_fail(smollm2());
  for (const std::string& scope : layers) {
    if (session && !session->apply({"bypass", {{"scope", scope}}}).ok()) ADD_FAILURE() << scope;
  }
  return session;
}

/// Of a model and a fork of it with an edit.
PatchResult patched_with(const std::string& words, const PatchPlaces& places = {}) {
  const auto a = open_without({"layers.0-17", "layers.23-29"});
  if (!a) return {};
  std::vector<edit::Edit> edits;
  if (!words.empty()) edits.push_back(edit::parse_edit(words).value());
  const auto b = a->fork({.edits = edits}, {});
  EXPECT_TRUE(b.ok()) << (b.ok() ? "" : b.error().to_string());
  if (!b.ok()) return {};
  const auto result = patch(*a, **b, kPatchText, places, {}, {});
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().to_string());
  return result.ok() ? *result : PatchResult{};
}

TEST(Patch, AllOfTheDifferenceGoesAwayAfterWhatMakesIt) {
  const PatchResult result = patched_with("quantise scope=layers.20.mlp type=q4_0");
  EXPECT_GT(result.kl, 0);
  ASSERT_EQ(result.nodes.size(), 2U * 5 + 3)
      << "two residuals a layer, and what stands before and after them";
  bool past = false;
  for (const PatchedNode& node : result.nodes) {
    past = past || node.node == "layers.20.mlp.residual";
    EXPECT_EQ(node.gone, past ? 1.0 : 0.0) << node.node;
    EXPECT_EQ(node.kl, past ? 0.0 : result.kl) << node.node;
  }
  EXPECT_TRUE(past);
}

TEST(Patch, EqualSidesHaveNothingThatCouldGoAway) {
  const PatchResult result = patched_with("");
  EXPECT_EQ(result.kl, 0);
  for (const PatchedNode& node : result.nodes) EXPECT_EQ(node.gone, 0) << node.node;
}

/// By name of the layer's part.
double gone_at(const PatchResult& result, const std::string& path) {
  for (const PatchedNode& node : result.nodes)
    if (node.node == path) return node.gone;
  ADD_FAILURE() << path << " was not patched";
  return 0;
}

TEST(Patch, OfNodesBesideTheStreamThoseThatCarryTheDifferenceTakeItAway) {
  const PatchResult result =
      patched_with("quantise scope=layers.20.mlp.down_proj type=q4_0", {"layers.19-21,output"});
  EXPECT_GT(result.kl, 0);
  EXPECT_EQ(gone_at(result, "layers.20.mlp.down_proj"), 1.0) << "alone other than in A";
  EXPECT_EQ(gone_at(result, "layers.20.mlp.residual"), 1.0);
  EXPECT_EQ(gone_at(result, "layers.20.mlp.up_proj"), 0.0) << "before it";
  EXPECT_EQ(gone_at(result, "layers.19.attention.q_proj"), 0.0);
  const double later = gone_at(result, "layers.21.mlp.down_proj");
  EXPECT_NE(later, 0.0) << "a part of what came through";
  EXPECT_LT(later, 1.0) << "the stream passes it by";
  for (const PatchedNode& node : result.nodes)
    EXPECT_FALSE(node.node.starts_with("layers.3.")) << "was not asked for";
}

TEST(Patch, RefusesNodesThatAreNotThere) {
  const auto model = open_or_fail(smollm2());
  ASSERT_TRUE(model);
  const auto none = patch(*model, *model, kPatchText, {"layers.77"}, {}, {});
  ASSERT_FALSE(none.ok());
  EXPECT_THAT(none.error().to_string(), testing::HasSubstr("layers."));
}

TEST(Patch, IsPartOfAComparisonThatAsksForIt) {
  const auto a = open_without({"layers.5-29"});
  ASSERT_TRUE(a);
  const auto b = a->fork({.edits = {edit::parse_edit("quantise scope=layers.3 type=q4_0").value()}}, {});
  ASSERT_TRUE(b.ok());
  CompareRequest request;
  request.raw = "The capital of France is";
  request.max_tokens = 4;
  const auto without = compare(*a, **b, request, {}, {}, {});
  ASSERT_TRUE(without.ok());
  EXPECT_FALSE(without->patched_kl);
  request.patch = true;
  const auto with = compare(*a, **b, request, {}, {}, {});
  ASSERT_TRUE(with.ok()) << with.error().to_string();
  ASSERT_TRUE(with->patched_kl);
  size_t told = 0;
  for (const NodeComparison& node : with->nodes) {
    told += node.gone.has_value();
    if (node.node == "layers.2.mlp.residual") {
      EXPECT_EQ(node.gone, 0.0);
    } else if (node.node == "layers.3.mlp.residual") {
      EXPECT_EQ(node.gone, 1.0);
    }
  }
  EXPECT_EQ(told, 2U * 5 + 3);
}

TEST(Patch, RefusesWhatDoesNotWrite) {
  const auto encoder = open_or_fail(minilm()), model = open_or_fail(smollm2());
  ASSERT_TRUE(encoder && model);
  EXPECT_FALSE(patch(*model, *encoder, kPatchText, {}, {}, {}).ok());
  EXPECT_FALSE(patch(*model, *model, "", {}, {}, {}).ok());
}

}  // namespace
}  // namespace orrery::api
