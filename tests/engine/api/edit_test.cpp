// Edits of the running model: what the person does to the graph is what runs next, and undo is exact.
#include <gmock/gmock.h>

#include <cmath>
#include <cstdio>

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
  options.exact = true;
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
  std::ofstream(path) << edit::write_recipe(session_->recipe());
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
