// Edits of the running model: what the person does to the graph is what runs next, and undo is exact.
#include <gmock/gmock.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "engine/api/history.h"
#include "tests/engine/api/test_models.h"

namespace orrery::api {
namespace {

class Edits : public testing::Test {
 protected:
  void SetUp() override {
    session_ = open_or_fail(smollm2());
    ASSERT_TRUE(session_);
  }

  EditRecord apply(const std::string& words) {
    auto edit = edit::parse_edit(words);
    EXPECT_TRUE(edit.ok()) << words;
    auto record = session_->apply(edit.value());
    EXPECT_TRUE(record.ok()) << (record.ok() ? "" : record.error().to_string());
    return record.ok() ? record.value() : EditRecord{};
  }
  ChatResult reply(int64_t tokens = 12) {
    auto result = session_->chat(raw_request("The capital of France is", tokens), {}, {});
    EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().to_string());
    return result.ok() ? std::move(result).value() : ChatResult{};
  }

  std::shared_ptr<Session> session_;
};

TEST_F(Edits, ABypassedLayerRunsAtTheNextMessageAndUndoIsExact) {
  const std::string before = graph::print(*session_->model_graph());
  const ChatResult whole = reply();
  const EditRecord record = apply("bypass scope=layers.3");
  EXPECT_EQ(record.words, "bypass scope=layers.3");
  EXPECT_FALSE(record.kv_kept);
  const ChatResult without = reply();
  EXPECT_EQ(without.reused_tokens, 0);
  EXPECT_NE(without.tokens[0].logprob, whole.tokens[0].logprob);
  EXPECT_EQ(session_->edits().size(), 1U);
  EXPECT_EQ(session_->recipe().at(0).to_string(), "bypass scope=layers.3");

  const auto undone = session_->undo();
  ASSERT_TRUE(undone.ok()) << undone.error().to_string();
  EXPECT_EQ(graph::print(*session_->model_graph()), before);
  const ChatResult back = reply();
  EXPECT_EQ(ids_of(back), ids_of(whole));
  for (size_t i = 0; i < whole.tokens.size(); ++i) EXPECT_EQ(back.tokens[i].logprob, whole.tokens[i].logprob);
  EXPECT_TRUE(session_->edits().empty());

  const auto redone = session_->redo();
  ASSERT_TRUE(redone.ok());
  EXPECT_EQ(ids_of(reply()), ids_of(without));
}

TEST_F(Edits, WhatIsBypassedStaysInBothGraphsAndIsNotRun) {
  const auto dead_in = [](const graph::GraphVersion& graph, const std::string& scope) {
    const std::vector<bool> live = graph->live();
    std::vector<std::string> dead;
    for (size_t i = 0; i < live.size(); ++i)
      if (const graph::Node& node = graph->node(graph->order()[i]); !live[i] && !node.is_source())
        dead.push_back(node.path());
    for (const std::string& path : dead) EXPECT_TRUE(path.starts_with(scope)) << path;
    return dead;
  };
  const graph::GraphVersion whole = session_->fused_graph();
  EXPECT_THAT(dead_in(whole, ""), testing::IsEmpty());
  apply("bypass scope=layers.3");
  const std::vector<std::string> dead = dead_in(session_->fused_graph(), "layers.3.");
  EXPECT_EQ(dead, dead_in(session_->model_graph(), "layers.3."));
  EXPECT_EQ(dead.size(), 17U);
  const auto plan = session_->plan(Phase::decode);
  ASSERT_TRUE(plan.ok());
  for (const PlanStep& step : plan.value().steps)
    EXPECT_TRUE(!step.path.starts_with("layers.3.")) << step.path;
  // It stands between its neighbours and reads the stream that passes by.
  const graph::GraphVersion drawn = session_->fused_graph();
  const auto place = [&](const char* path) {
    const NodeId node = drawn->find_path(path);
    EXPECT_TRUE(node.valid()) << path;
    return std::find(drawn->order().begin(), drawn->order().end(), node) - drawn->order().begin();
  };
  EXPECT_LT(place("layers.2.mlp.gate_up_silu"), place("layers.3.attention.norm"));
  EXPECT_LT(place("layers.3.mlp.down_proj"), place("layers.4.mlp.gate_up_silu"));
  const graph::Node& norm = drawn->node(drawn->find_path("layers.3.attention.norm"));
  EXPECT_EQ(norm.inputs[0], drawn->node(drawn->find_path("layers.4.attention.add_norm")).outputs[0]);
}

TEST_F(Edits, RestoreTakesOneBypassBackWheneverItWasMade) {
  const std::string before = graph::print(*session_->model_graph());
  const ChatResult whole = reply();
  apply("bypass scope=layers.5-7");
  apply("set node=sampler.sample attribute=top_k value=20");
  apply("bypass scope=layers.9.mlp");
  const std::string all = graph::print(*session_->model_graph());
  ASSERT_FALSE(session_->restore("layers.4").ok());
  EXPECT_EQ(graph::print(*session_->model_graph()), all) << "a refusal leaves it as it was";

  const auto restored = session_->restore("layers.6");
  ASSERT_TRUE(restored.ok()) << restored.error().to_string();
  EXPECT_EQ(restored.value().name, "restore layers.6");
  ASSERT_EQ(session_->recipe().size(), 3U);
  EXPECT_EQ(session_->recipe()[0].to_string(), "bypass scope=layers.5,layers.7");
  EXPECT_EQ(session_->edits().size(), 4U);
  ASSERT_TRUE(session_->restore("layers.5-7").ok()) << "a pattern, as edits have them";
  ASSERT_EQ(session_->recipe().size(), 2U);
  ASSERT_TRUE(session_->undo().ok());
  ASSERT_TRUE(session_->restore("layers.9.mlp.down_proj").ok()) << "a part of what is bypassed";
  ASSERT_TRUE(session_->restore("layers").ok()) << "all that is bypassed in it";
  ASSERT_EQ(session_->recipe().size(), 1U);
  EXPECT_EQ(ids_of(reply()), ids_of(whole));

  for (int step = 0; step < 3; ++step) ASSERT_TRUE(session_->undo().ok());
  EXPECT_EQ(graph::print(*session_->model_graph()), all);
  for (int step = 0; step < 3; ++step) ASSERT_TRUE(session_->undo().ok());
  EXPECT_EQ(graph::print(*session_->model_graph()), before);
  for (int step = 0; step < 6; ++step) ASSERT_TRUE(session_->redo().ok());
  EXPECT_EQ(session_->recipe().size(), 1U);
  EXPECT_FALSE(session_->redo().ok());
}

TEST_F(Edits, FarUndoneStepsAreMadeAgainFromTheirRecipes) {
  constexpr int kEdits = static_cast<int>(History::kGraphs) + 8;
  std::vector<std::string> prints{graph::print(*session_->model_graph())};
  for (int i = 0; i < kEdits; ++i) {
    apply(fmt::format("set node=sampler.sample attribute=top_k value={}", i + 1));
    prints.push_back(graph::print(*session_->model_graph()));
  }
  for (int i = kEdits; i > 0; --i) {
    EXPECT_EQ(graph::print(*session_->model_graph()), prints[static_cast<size_t>(i)]);
    ASSERT_TRUE(session_->undo().ok());
  }
  EXPECT_EQ(graph::print(*session_->model_graph()), prints[0]);
  ASSERT_TRUE(session_->redo().ok());
  EXPECT_EQ(graph::print(*session_->model_graph()), prints[1]);
}

TEST_F(Edits, UndoWithoutAMessageBetweenKeepsTheContext) {
  const ChatResult whole = reply();
  EXPECT_FALSE(apply("bypass scope=layers.3").kv_kept);
  const auto undone = session_->undo();
  ASSERT_TRUE(undone.ok());
  EXPECT_TRUE(undone.value().kv_kept);
  EXPECT_EQ(reply().reused_tokens, whole.prompt_tokens - 1);
}

TEST_F(Edits, TheLastLayerKeepsTheContext) {
  const ChatResult whole = reply();
  EXPECT_TRUE(apply("bypass scope=layers.29").kv_kept);
  const ChatResult without = reply();
  EXPECT_EQ(without.reused_tokens, whole.prompt_tokens - 1);
  EXPECT_NE(without.tokens[0].logprob, whole.tokens[0].logprob);
}

TEST_F(Edits, FusionChangesNoNumberAndKeepsTheContext) {
  OpenOptions options = smollm2();
  options.precision = "exact";
  session_ = open_or_fail(options);
  ASSERT_TRUE(session_);
  const auto fused_nodes = session_->fused_graph()->order().size();
  const ChatResult fused = reply();
  ASSERT_TRUE(session_->set_fusion(false).ok());
  EXPECT_GT(session_->fused_graph()->order().size(), fused_nodes);
  const ChatResult plain = reply();
  EXPECT_EQ(plain.reused_tokens, fused.prompt_tokens - 1);
  EXPECT_EQ(ids_of(plain), ids_of(fused));
  session_->forget_context();
  const ChatResult fresh = reply();
  EXPECT_EQ(ids_of(fresh), ids_of(fused));
  for (size_t i = 0; i < fused.tokens.size(); ++i)
    EXPECT_NEAR(fresh.tokens[i].logprob, fused.tokens[i].logprob, 1e-3);
}

TEST_F(Edits, AnIllegalEditLeavesAllAsItWas) {
  const auto graph = session_->model_graph();
  for (const char* words : {"bypass scope=layers.99", "bypass scope=nowhere"}) {
    const auto refused = session_->apply(edit::parse_edit(words).value());
    ASSERT_FALSE(refused.ok()) << words;
    EXPECT_FALSE(refused.error().what.empty());
  }
  EXPECT_EQ(session_->model_graph(), graph);
  const auto nothing = session_->undo();
  ASSERT_FALSE(nothing.ok());
  EXPECT_EQ(nothing.error().code, ErrorCode::not_found);
  EXPECT_EQ(session_->redo().error().code, ErrorCode::not_found);
}

TEST_F(Edits, ARecipeIsAppliedAtOpen) {
  apply("bypass scope=layers.7");
  const ChatResult edited = reply();
  const std::string path = testing::TempDir() + "orrery_recipe.json";
  std::ofstream(path) << edit::write_recipe({session_->recipe()});
  OpenOptions options = smollm2();
  options.recipe = path;
  const auto other = open_or_fail(options);
  ASSERT_TRUE(other);
  EXPECT_EQ(other->edits().size(), 1U);
  session_ = other;
  EXPECT_EQ(ids_of(reply()), ids_of(edited));
  std::ofstream(path) << R"({"orrery_recipe": 1, "edits": [{"op": "bypass", "scope": "layers.77"}]})";
  const auto refused = Session::open(options, {}, {});
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().to_string(), testing::HasSubstr("layers.77"));
  std::remove(path.c_str());
}

TEST_F(Edits, ARecipeIsMadeWholeOrNotAtAll) {
  apply("bypass scope=layers.1");
  const std::string before = graph::print(*session_->model_graph());
  const auto bypass = [](const char* scope) { return edit::Edit{"bypass", {{"scope", scope}}}; };
  const auto refused = session_->replay({bypass("layers.3"), bypass("layers.77"), bypass("layers.5")});
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().where, testing::HasSubstr("edit 2 of the recipe, \"bypass scope=layers.77\""));
  EXPECT_EQ(graph::print(*session_->model_graph()), before);
  EXPECT_EQ(session_->recipe().size(), 1U);

  const auto made = session_->replay({bypass("layers.3"), bypass("layers.5")});
  ASSERT_TRUE(made.ok()) << made.error().to_string();
  EXPECT_EQ(made->size(), 2U);
  EXPECT_EQ(session_->recipe().size(), 3U);
  const ChatResult all = reply();
  ASSERT_TRUE(session_->undo().ok());
  EXPECT_EQ(session_->recipe().back(), bypass("layers.3"));
  ASSERT_TRUE(session_->undo().ok());
  EXPECT_EQ(graph::print(*session_->model_graph()), before);
  ASSERT_TRUE(session_->redo().ok());
  ASSERT_TRUE(session_->redo().ok());
  EXPECT_EQ(ids_of(reply()), ids_of(all));
}

TEST_F(Edits, AnEditInAnotherThreadIsAdoptedBetweenSteps) {
  int count = 0;
  ChatEvents events;
  events.on_token = [&](const TokenEvent&) {
    if (++count == 3) apply("bypass scope=layers.5");
  };
  auto result = session_->chat(raw_request("Once upon a time", 12), events, {});
  ASSERT_TRUE(result.ok()) << result.error().to_string();
  EXPECT_EQ(result.value().tokens.size(), 12U);
  EXPECT_EQ(session_->edits().size(), 1U);
}

}  // namespace
}  // namespace orrery::api
