// SmolLM2 after surgery: the next message runs on it, the context stays as far as it may, undo is exact.
#include <gmock/gmock.h>

#include "tests/engine/api/test_models.h"

namespace orrery::api {
namespace {

class Surgery : public testing::Test {
 protected:
  void SetUp() override {
    session_ = open_or_fail(smollm2());
    ASSERT_TRUE(session_);
  }

  EditRecord make(const std::string& words) {
    const auto edit = edit::parse_edit(words);
    EXPECT_TRUE(edit.ok()) << words << ": " << (edit.ok() ? "" : edit.error().to_string());
    const auto record = edit.ok() ? session_->apply(*edit) : Result<EditRecord>(edit.error());
    EXPECT_TRUE(record.ok()) << words << ": " << (record.ok() ? "" : record.error().to_string());
    return record.ok() ? *record : EditRecord{};
  }
  ChatResult reply(const char* text = "The capital of France is", int64_t tokens = 10) {
    auto result = session_->chat(raw_request(text, tokens), {}, {});
    EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().to_string());
    return result.ok() ? std::move(result).value() : ChatResult{};
  }
  /// After an edit the chat goes on, differently; undone, it is what it was, to the last bit.
  void expect_runs(const std::vector<std::string>& edits) {
    SCOPED_TRACE(edits.front());
    const std::string before = graph::print(*session_->model_graph());
    session_->forget_context();
    const ChatResult whole = reply();
    for (const std::string& words : edits) make(words);
    const ChatResult edited = reply();
    EXPECT_EQ(edited.tokens.size(), whole.tokens.size());
    EXPECT_NE(edited.tokens[0].logprob, whole.tokens[0].logprob);
    session_->forget_context();
    const ChatResult afresh = reply();
    EXPECT_EQ(ids_of(afresh), ids_of(edited)) << "it depends on what was read before the edit";
    for (size_t i = 0; i < edits.size(); ++i) ASSERT_TRUE(session_->undo().ok());
    EXPECT_EQ(graph::print(*session_->model_graph()), before);
    const ChatResult back = reply();
    EXPECT_EQ(ids_of(back), ids_of(whole));
    for (size_t i = 0; i < whole.tokens.size(); ++i)
      EXPECT_EQ(back.tokens[i].logprob, whole.tokens[i].logprob);
  }

  std::shared_ptr<Session> session_;
};

TEST_F(Surgery, EveryVerbRunsAtTheNextMessage) {
  expect_runs({"delete scope=layers.3,layers.7"});
  expect_runs({"repeat scope=layers.4-7 times=2"});
  expect_runs({"move scope=layers.9 after=layers.2"});
  expect_runs({"zero node=layers.10.attention.sdpa heads=2"});
  expect_runs({"scale node=layers.6.attention.o_proj factor=0.5"});
  expect_runs({"duplicate scope=layers.20.attention",
               "connect input=layers.20.mlp.norm.src value=layers.20.attention@2.residual:dst",
               "connect input=layers.20.attention@2.norm.src value=layers.20.attention.residual:dst"});
  expect_runs(
      {R"(insert op=add as=layers.25.skip after=layers.25.mlp.residual:dst inputs={"b": "layers.22.mlp.residual:dst"})"});
}

TEST_F(Surgery, WhatCannotRunIsRefusedAndTheChatGoesOn) {
  const ChatResult whole = reply();
  const SessionStatePtr before = session_->state();
  for (const char* words :
       {"delete scope=embed", "connect input=output.norm.src value=layers.29.mlp.residual:dst",
        "connect input=layers.3.attention.q_proj.weight value=layers.2.mlp.norm:dst",
        "insert op=silu as=x after=layers.3.attention.q_proj.weight:weight"}) {
    const auto refused = session_->apply(*edit::parse_edit(words));
    ASSERT_FALSE(refused.ok()) << words;
    EXPECT_FALSE(refused.error().what.empty());
    EXPECT_EQ(session_->state(), before) << words;
  }
  EXPECT_EQ(ids_of(reply()), ids_of(whole));
}

TEST_F(Surgery, ContextIsKeptAsFarAsNothingFeedsIt) {
  const int64_t prompt = reply().prompt_tokens;
  for (const char* words :
       {"probe as=seen value=layers.3.mlp.residual:dst", "note node=layers.3.mlp.gate text=here",
        "frame nodes=layers.3 title=middle", "rename node=layers.3 to=third",
        "scale node=output.norm factor=2", "delete scope=layers.29.mlp", "duplicate scope=layers.8"}) {
    EXPECT_TRUE(make(words).kv_kept) << words;
    EXPECT_EQ(reply().reused_tokens, prompt - 1) << words;
  }
  for (const char* words : {"repeat scope=layers.28 times=2", "move scope=layers.20 after=layers.10",
                            "delete scope=layers.5.mlp", "scale node=layers.5.attention.o_proj factor=0.5"}) {
    EXPECT_FALSE(make(words).kv_kept) << words;
    EXPECT_EQ(reply().reused_tokens, 0) << words;
    const auto undone = session_->undo();
    ASSERT_TRUE(undone.ok());
    EXPECT_FALSE(undone->kv_kept) << "the message was read by the edited model";
    reply();
  }
}

TEST_F(Surgery, AProbeChangesNoNumber) {
  OpenOptions options = smollm2();
  options.precision = "exact";
  session_ = open_or_fail(options);
  ASSERT_TRUE(session_);
  const ChatResult whole = reply();
  make("probe as=seen value=layers.3.mlp.residual:dst");
  make("probe as=queries value=layers.9.attention.q_proj:dst");
  make("probe as=scores value=output.lm_head:dst");
  session_->forget_context();
  const ChatResult probed = reply();
  EXPECT_EQ(ids_of(probed), ids_of(whole));
  for (size_t i = 0; i < whole.tokens.size(); ++i)
    EXPECT_NEAR(probed.tokens[i].logprob, whole.tokens[i].logprob, 1e-4);
}

}  // namespace
}  // namespace orrery::api
