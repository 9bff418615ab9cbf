// The history of a session: jumps, what goes back to the original, recipes that are switched off and on, and
// passes that are left out.
#include "engine/api/history.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "engine/api/recipes.h"
#include "tests/engine/api/tiny_session.h"

namespace orrery::api {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class HistoryTest : public testing::Test {
 protected:
  void make(const std::string& words) {
    const auto made = tiny_->apply(edit_of(words));
    ASSERT_TRUE(made.ok()) << words << ": " << made.error().to_string();
    ASSERT_TRUE(belongs_together(*tiny_->state()));
  }
  std::string restore(const std::string& scopes) {
    const auto restored = tiny_->restore(scopes);
    EXPECT_TRUE(belongs_together(*tiny_->state()));
    return restored.ok() ? "" : restored.error().to_string();
  }
  std::vector<std::string> recipe() const {
    std::vector<std::string> words;
    for (const edit::Edit& edit : tiny_->recipe()) words.push_back(edit.to_string());
    return words;
  }
  std::vector<std::string> steps() const {
    std::vector<std::string> names;
    for (const auto& step : history().steps()) names.push_back(step->record.name);
    return names;
  }
  std::string print() const { return graph::print(*tiny_->model_graph()); }
  /// The state's graph is what the recipe makes of the opened one.
  void expect_replays() const {
    const auto made = replayed(history().opened(), tiny_->recipe());
    ASSERT_TRUE(made.ok()) << made.error().to_string();
    EXPECT_EQ(graph::print(*made->graph), print());
  }
  const History& history() const { return history_ = tiny_->state()->history; }

  TinySession tiny_{4};
  mutable History history_{tiny_->model_graph()};
};

TEST_F(HistoryTest, TellsAllStepsAndGoesToAnyOfThem) {
  std::vector<std::string> prints{print()};
  for (const char* words : {"bypass scope=layers.1", "repeat scope=layers.2 times=2", "delete scope=layers.0",
                            "scale node=layers.3.down factor=0.5"}) {
    make(words);
    prints.push_back(print());
  }
  EXPECT_THAT(steps(), ElementsAre("bypass layers.1", "repeat layers.2 2 times", "delete layers.0",
                                   "scale layers.3.down by 0.5"));
  EXPECT_EQ(history().position(), 4U);
  for (const size_t to : {1U, 3U, 0U, 4U, 2U}) {
    ASSERT_TRUE(tiny_->jump_to(to).ok());
    EXPECT_EQ(history().position(), to);
    EXPECT_EQ(steps().size(), 4U);
    EXPECT_EQ(print(), prints[to]);
    EXPECT_EQ(recipe().size(), to);
    EXPECT_TRUE(belongs_together(*tiny_->state()));
  }
  EXPECT_TRUE(history().can_undo() && history().can_redo());
  EXPECT_THAT(tiny_->jump_to(5).error().to_string(), HasSubstr("The history has 4 steps, not 5"));
  make("bypass scope=layers.0");
  EXPECT_THAT(steps(), ElementsAre("bypass layers.1", "repeat layers.2 2 times", "bypass layers.0"))
      << "what was undone is replaced";
}

TEST_F(HistoryTest, JumpsOverStepsWhoseGraphsAreNotKept) {
  std::vector<std::string> prints{print()};
  for (int i = 0; i < 90; ++i) {
    make(fmt::format("set node=sampler.sample attribute=top_k value={}", i % 2 == 0 ? 7 + i : 3));
    if (i == 50) {
      EXPECT_EQ(restore("sampler.sample"), "");
    }
    prints.push_back(print());
  }
  size_t kept = 0;
  for (const auto& step : history().steps()) kept += step->graph ? 1 : 0;
  EXPECT_LT(kept, 40U);
  for (const size_t to : {0U, 3U, 20U, 40U, 70U, 91U}) {
    ASSERT_TRUE(tiny_->jump_to(to).ok()) << to;
    EXPECT_TRUE(belongs_together(*tiny_->state()));
    expect_replays();
  }
  EXPECT_EQ(print(), prints.back());
}

TEST_F(HistoryTest, WhatWasDoneToANodeIsTakenBackWheneverItWas) {
  const std::string opened = print();
  make("bypass scope=layers.1");
  make("scale node=layers.2.down factor=0.5");
  make("set node=layers.2.norm attribute=eps value=0.5");
  make("connect input=layers.3.residual.a value=layers.0.mlp_residual:dst");
  EXPECT_EQ(restore("layers.2.down"), "");
  EXPECT_THAT(recipe(), ElementsAre("bypass scope=layers.1", HasSubstr("set"), HasSubstr("connect")));
  EXPECT_EQ(restore("layers.2"), "");
  EXPECT_THAT(recipe(), ElementsAre("bypass scope=layers.1", HasSubstr("connect")));
  EXPECT_EQ(restore("layers.3"), "");
  EXPECT_THAT(recipe(), ElementsAre("bypass scope=layers.1"));
  EXPECT_EQ(restore("layers.1.gate"), "") << "a part of what is bypassed";
  EXPECT_EQ(print(), opened);
  EXPECT_THAT(restore("layers.1"), HasSubstr("No edit changes it (layers.1)"));
  EXPECT_EQ(history().steps().size(), 8U);
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(tiny_->undo().ok());
  EXPECT_EQ(recipe().size(), 4U);
}

TEST_F(HistoryTest, NewAndDeletedNodesGoBackToo) {
  make("delete scope=layers.1");
  make("insert op=silu as=mine after=layers.0.mlp_residual:dst");
  make("repeat scope=layers.3 times=2");
  EXPECT_EQ(restore("mine"), "");
  EXPECT_THAT(recipe(), ElementsAre("delete scope=layers.1", "repeat scope=layers.3 times=2"));
  EXPECT_EQ(restore("layers.1"), "") << "a ghost, which the opened graph has";
  EXPECT_EQ(restore("layers.3@2"), "");
  EXPECT_THAT(recipe(), IsEmpty());
}

TEST_F(HistoryTest, WiresThatOthersChangedGoBackWithThem) {
  make("bypass scope=layers.1");
  EXPECT_EQ(restore("layers.2.norm"), "") << "it reads another value since";
  EXPECT_THAT(recipe(), IsEmpty());
}

TEST_F(HistoryTest, AnEditOfSeveralStaysForTheOthers) {
  make("bypass scope=layers.1-3");
  EXPECT_EQ(restore("layers.2"), "");
  EXPECT_THAT(recipe(), ElementsAre("bypass scope=layers.1,layers.3"));
  make("precision scope=layers.* dtype=int8");
  EXPECT_EQ(restore("layers.0.norm"), "");
  EXPECT_EQ(graph::precision_of(tiny_->model_graph()->node(tiny_->model_graph()->find_path("layers.0.norm"))),
            "");
  EXPECT_EQ(graph::precision_of(tiny_->model_graph()->node(tiny_->model_graph()->find_path("layers.0.gate"))),
            "int8");
  EXPECT_EQ(graph::precision_of(tiny_->model_graph()->node(tiny_->model_graph()->find_path("layers.3.norm"))),
            "int8");
}

TEST_F(HistoryTest, ALaterEditThatNeedsItIsNamed) {
  make("insert op=silu as=mine after=layers.0.mlp_residual:dst");
  make("scale node=mine factor=2");
  const std::string before = print();
  EXPECT_THAT(restore("mine"), "") << "both are of it";
  ASSERT_TRUE(tiny_->undo().ok());
  make("connect input=layers.3.residual.a value=mine_scale:dst");
  EXPECT_THAT(
      restore("mine"),
      AllOf(HasSubstr("The later edit \"connect input=layers.3.residual.a value=mine_scale:dst\" needs it"),
            HasSubstr("take that one back first")));
  EXPECT_EQ(recipe().size(), 3U);
}

TEST_F(HistoryTest, StackedRecipesAreSwitchedAtTheirPlace) {
  const std::string opened = print();
  ASSERT_TRUE(tiny_
                  ->replay({edit_of("bypass scope=layers.1"), edit_of("scale node=layers.2.down factor=2")},
                           {}, "shallow")
                  .ok());
  make("set node=sampler.sample attribute=top_k value=7");
  ASSERT_TRUE(tiny_->replay({edit_of("repeat scope=layers.3 times=2")}, {}, "deep").ok());
  const std::string all = print();
  const auto recipes = [&] {
    std::vector<std::string> told;
    for (const StackedRecipe& one : history().recipes())
      told.push_back(fmt::format("{} {} {}", one.name, one.edits, one.on ? "on" : "off"));
    return told;
  };
  EXPECT_THAT(recipes(), ElementsAre("shallow 2 on", "deep 1 on"));

  const auto off = tiny_->switch_recipe("shallow", false);
  ASSERT_TRUE(off.ok()) << off.error().to_string();
  EXPECT_EQ(off->name, "recipe shallow off");
  EXPECT_THAT(recipe(), ElementsAre(HasSubstr("set"), HasSubstr("repeat")));
  EXPECT_THAT(recipes(), ElementsAre("shallow 2 off", "deep 1 on"));
  expect_replays();
  make("bypass scope=layers.0");
  ASSERT_TRUE(tiny_->switch_recipe("shallow", true).ok());
  EXPECT_THAT(recipe(), ElementsAre("bypass scope=layers.1", HasSubstr("scale"), HasSubstr("set"),
                                    HasSubstr("repeat"), "bypass scope=layers.0"));
  ASSERT_TRUE(tiny_->undo().ok());
  ASSERT_TRUE(tiny_->undo().ok());
  ASSERT_TRUE(tiny_->undo().ok());
  EXPECT_EQ(print(), all);
  EXPECT_THAT(recipes(), ElementsAre("shallow 2 on", "deep 1 on"));

  EXPECT_THAT(tiny_->switch_recipe("shallow", true).error().to_string(), HasSubstr("on already"));
  EXPECT_THAT(tiny_->switch_recipe("other", false).error().to_string(), HasSubstr("No recipe of this name"));
  EXPECT_FALSE(tiny_->switch_recipe("", false).ok());
  make("bypass scope=layers.3@2");
  const auto needed = tiny_->switch_recipe("deep", false);
  ASSERT_FALSE(needed.ok());
  EXPECT_THAT(needed.error().to_string(), HasSubstr("\"bypass scope=layers.3@2\""));
  ASSERT_TRUE(tiny_->jump_to(0).ok());
  EXPECT_EQ(print(), opened);
}

TEST_F(HistoryTest, PassesAreLeftOutByName) {
  const std::string fused = graph::print(*tiny_->fused_graph());
  ASSERT_TRUE(tiny_->set_passes({"fuse_qkv"}).ok());
  EXPECT_NE(graph::print(*tiny_->fused_graph()), fused);
  EXPECT_THAT(graph::print(*tiny_->fused_graph()),
              AllOf(HasSubstr("add_rms_norm"), testing::Not(HasSubstr("qkv"))));
  make("bypass scope=layers.1");
  EXPECT_EQ(tiny_->state()->disabled_passes, std::set<std::string>{"fuse_qkv"}) << "an edit leaves it";
  const SessionStatePtr before = tiny_->state();
  ASSERT_TRUE(tiny_->set_passes({"fuse_qkv"}).ok());
  EXPECT_EQ(tiny_->state(), before) << "nothing to do";
  EXPECT_THAT(tiny_->set_passes({"fuse_all"}).error().to_string(),
              HasSubstr("There is no pass \"fuse_all\""));
  ASSERT_TRUE(tiny_->set_passes({}).ok());
  ASSERT_TRUE(tiny_->undo().ok());
  EXPECT_EQ(graph::print(*tiny_->fused_graph()), fused);
}

TEST_F(HistoryTest, WhatTheModelGivesKeepsItsType) {
  const SessionStatePtr before = tiny_->state();
  const auto refused = [&](const char* words) {
    const auto made = tiny_->apply(edit_of(words));
    EXPECT_EQ(tiny_->state(), before) << words;
    return made.ok() ? "" : made.error().to_string();
  };
  EXPECT_THAT(refused("connect input=output.norm.src value=layers.3.mlp_residual:dst"),
              AllOf(HasSubstr("i32[tokens]"),
                    HasSubstr("as it was opened it gives sampler.sample:tokens i32[outputs]")));
  EXPECT_THAT(refused("output value=output.head:dst remove=true"), HasSubstr("gives no output.head:dst"));
  EXPECT_THAT(
      refused(
          R"(insert op=slice as=few after=output.head:dst attributes={"axes": [1], "starts": [0], "stops": [9]})"),
      HasSubstr("f32[outputs, 9]"));
  make("output value=layers.0.mlp_residual:dst");
  make("insert op=scale as=warm after=output.head:dst attributes={\"factor\": 2}");
  EXPECT_EQ(tiny_.reply(4).ids.size(), 4U);
}

TEST(Recipes, KnowTheirModel) {
  ModelInfo info;
  info.architecture = "llama";
  info.tensors = {{"a", "f32", {2, 3}, 24}, {"b", "Q4_K", {256}, 144}};
  const std::string identity = identity_of(info);
  EXPECT_EQ(identity.size(), 16U);
  ModelInfo other = info;
  std::swap(other.tensors[0], other.tensors[1]);
  other.tensors[0].dtype = "Q8_0";
  EXPECT_EQ(identity_of(other), identity) << "neither order nor quantisation";
  other.tensors[0].shape = {512};
  EXPECT_NE(identity_of(other), identity);
  const Error error{ErrorCode::not_found, "The graph has no such scope", "layers.40", ""};
  EXPECT_EQ(refusal_of({{}, "r", "", identity}, info, error).what, error.what);
  EXPECT_EQ(refusal_of({{}, "r", "", ""}, other, error).what, error.what);
  EXPECT_THAT(refusal_of({{}, "r", "", identity}, other, error).what, HasSubstr("made on another model"));
}

}  // namespace
}  // namespace orrery::api
