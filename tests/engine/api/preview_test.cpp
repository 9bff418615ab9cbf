// What a preview says is what the edits then do, and saying it does nothing.
#include <gmock/gmock.h>

#include <algorithm>
#include <map>

#include "engine/api/preview_cost.h"
#include "tests/engine/api/tiny_session.h"
#include "tests/support/variable.h"

namespace orrery::api {
namespace {

using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<edit::Edit> edits(const std::vector<std::string>& words) {
  std::vector<edit::Edit> edits;
  for (const std::string& one : words) edits.push_back(edit_of(one));
  return edits;
}

/// By scope, how many nodes would be changed that way.
std::map<std::string, int> scopes_of(const Preview& preview, NodeChange::Kind kind) {
  std::map<std::string, int> scopes;
  for (const NodeChange& node : preview.nodes)
    if (node.kind == kind) ++scopes[node.path.substr(0, node.path.rfind('.'))];
  return scopes;
}

const NodeChange* find(const Preview& preview, const std::string& path) {
  for (const NodeChange& node : preview.nodes)
    if (node.path == path) return &node;
  return nullptr;
}

class PreviewTest : public testing::Test {
 protected:
  Preview preview(const std::vector<std::string>& words) const {
    auto told = tiny_->preview(edits(words), {});
    EXPECT_TRUE(told.ok()) << (told.ok() ? "" : told.error().to_string());
    return told.ok() ? std::move(told).value() : Preview{};
  }
  /// Reads a text into the context of the chat, and writes to it.
  runtime::TinyReply chat() const { return tiny_.reply(8, tiny_->chat_sequence()); }

  TinySession tiny_{3};
};

TEST_F(PreviewTest, ABypassIsToldByItsNodes) {
  const Preview told = preview({"bypass scope=layers.1"});
  EXPECT_THAT(told.refusals, IsEmpty());
  EXPECT_THAT(scopes_of(told, NodeChange::Kind::removed), ElementsAre(testing::Pair("layers.1", 17)));
  const NodeChange* removed = find(told, "layers.1.query");
  ASSERT_TRUE(removed);
  EXPECT_EQ(removed->op, "linear");
  EXPECT_EQ(removed->shape_before, "f32[tokens, 64]");
  EXPECT_EQ(removed->shape_after, "");
  EXPECT_EQ(removed->device_before, "cpu");
  const NodeChange* next = find(told, "layers.2.norm");
  ASSERT_TRUE(next);
  EXPECT_EQ(next->kind, NodeChange::Kind::changed);
  EXPECT_THAT(next->differences,
              ElementsAre("reads layers.0.mlp_residual:dst, not layers.1.mlp_residual:dst"));
  EXPECT_EQ(next->shape_before, next->shape_after);
  EXPECT_THAT(scopes_of(told, NodeChange::Kind::added), IsEmpty());
  ASSERT_THAT(told.memory, SizeIs(1));
  EXPECT_LT(told.memory[0].after.weights, told.memory[0].before.weights);
  EXPECT_EQ(told.memory[0].after.kv_cache * 3, told.memory[0].before.kv_cache * 2) << "two states of three";
}

TEST_F(PreviewTest, AttributesAreToldWithBothValues) {
  const Preview told = preview({"set node=sampler.sample attribute=top_k value=7"});
  ASSERT_THAT(told.nodes, SizeIs(1));
  EXPECT_EQ(told.nodes[0].path, "sampler.sample");
  ASSERT_THAT(told.nodes[0].differences, SizeIs(1));
  EXPECT_THAT(told.nodes[0].differences[0], testing::AllOf(HasSubstr("top_k"), HasSubstr("-> 7")));
  EXPECT_EQ(told.tokens_read_again, 0);
}

TEST_F(PreviewTest, APlacementIsToldByDeviceAndMemory) {
  const Preview told = preview({"place scope=layers.1 device=cuda:0"});
  EXPECT_THAT(told.nodes, Each(Field(&NodeChange::device_after, "cuda:0")));
  EXPECT_THAT(told.nodes, Each(Field(&NodeChange::device_before, "cpu")));
  EXPECT_EQ(told.nodes.size(), 17U);
  ASSERT_THAT(told.memory, SizeIs(2));
  EXPECT_EQ(told.memory[0].device, "cpu");
  EXPECT_EQ(told.memory[1].device, "cuda:0");
  EXPECT_EQ(told.memory[1].before.session(), 0U);
  EXPECT_GT(told.memory[1].after.weights, 0U);
  EXPECT_EQ(told.memory[0].before.kv_cache, told.memory[0].after.kv_cache + told.memory[1].after.kv_cache);
  EXPECT_EQ(told.memory[0].before.weights, told.memory[0].after.weights + told.memory[1].after.weights);
}

TEST_F(PreviewTest, NodesThatRunElsewhereAreNamed) {
  const Variable lacking("ORRERY_FAKE_DEVICE_LACKS", "attention");
  const Preview told = preview({"place scope=layers.1 device=cuda:0"});
  EXPECT_THAT(told.moved, Contains(Field(&NodePlacement::reason, HasSubstr("has no attention"))));
  ASSERT_TRUE(tiny_->apply(edit_of("place scope=layers.1 device=cuda:0")).ok());
  std::vector<NodePlacement> moved = tiny_->placement();
  std::erase_if(moved, [](const NodePlacement& place) { return place.reason.empty(); });
  ASSERT_EQ(moved.size(), told.moved.size());
  for (size_t i = 0; i < moved.size(); ++i) {
    EXPECT_EQ(moved[i].node, told.moved[i].node);
    EXPECT_EQ(moved[i].device, told.moved[i].device);
    EXPECT_EQ(moved[i].reason, told.moved[i].reason);
  }
}

TEST_F(PreviewTest, RefusalsAreThoseOfTheEdits) {
  const Preview illegal =
      preview({"bypass scope=layers.9", "bypass scope=layers.1", "bypass scope=layers.1"});
  ASSERT_THAT(illegal.refusals, SizeIs(2));
  EXPECT_EQ(illegal.refusals[0].edit, 0U);
  EXPECT_EQ(illegal.refusals[1].edit, 2U);
  EXPECT_EQ(illegal.refusals[0].reason.to_string(),
            tiny_->apply(edit_of("bypass scope=layers.9")).error().to_string());
  const Preview no_card =
      preview({"place scope=layers.0 device=cuda:0", "place scope=layers.1 device=cuda:9"});
  ASSERT_THAT(no_card.refusals, SizeIs(1));
  EXPECT_EQ(no_card.refusals[0].edit, std::nullopt);
  EXPECT_THAT(no_card.refusals[0].reason.to_string(), HasSubstr("cuda:9 cannot be used"));
}

TEST_F(PreviewTest, ItDoesNothing) {
  const auto held = [&] {
    std::vector<std::string> forms;
    for (const DerivedWeight& form : tiny_->derived_weights()) forms.push_back(form.tensor + form.transform);
    return forms;
  };
  const runtime::TinyReply before = chat();
  const SessionStatePtr state = tiny_->state();
  const std::vector<std::string> weights = held();
  const int64_t context = tiny_->context_used();
  preview({"place scope=layers.1 device=cuda:0", "bypass scope=layers.2"});
  EXPECT_EQ(tiny_->state(), state);
  EXPECT_EQ(tiny_.model().version(), state->version);
  EXPECT_EQ(held(), weights);
  EXPECT_EQ(tiny_->context_used(), context);
  const runtime::TinyReply after = chat();
  EXPECT_EQ(after.ids, before.ids);
  EXPECT_EQ(after.outcome.value().reused_tokens, after.outcome.value().prompt_tokens - 1);
}

TEST_F(PreviewTest, WhatIsReadAgainIsToldByItsFirstLayer) {
  chat();
  const Preview told = preview({"bypass scope=layers.1"});
  EXPECT_GT(told.tokens_read_again, 0);
  EXPECT_EQ(told.read_again_from, "layers.2.kv") << "the state of the bypassed layer is not needed";
  EXPECT_EQ(told.states_before, 1U);
  const Preview later = preview({"bypass scope=layers.2"});
  EXPECT_EQ(later.read_again_from, "");
  EXPECT_EQ(later.tokens_read_again, 0) << "no state follows";
}

/// Each edit is previewed and then made; the next preview begins where the last one said that it would end.
TEST_F(PreviewTest, WhatItSaysIsWhatHappens) {
  std::vector<MemoryChange> last;
  for (const char* words :
       {"set node=sampler.sample attribute=top_k value=7", "place scope=layers.1 device=cuda:0",
        "bypass scope=layers.2", "place scope=layers.0 device=cuda:0", "bypass scope=layers.0"}) {
    SCOPED_TRACE(words);
    chat();
    const int64_t held = tiny_->context_used() - 1;  // the last token was not read yet
    const Preview told = preview({words});
    for (const MemoryChange& before : told.memory)
      for (const MemoryChange& after : last)
        if (after.device == before.device) {
          EXPECT_EQ(after.after.session(), before.before.session());
        }
    last = told.memory;
    const std::vector<bool> was = tiny_->model_graph()->live();
    const EditRecord record = tiny_->apply(edit_of(words)).value();
    EXPECT_EQ(record.kv_kept, told.tokens_read_again == 0);
    const graph::GraphVersion graph = tiny_->model_graph();
    const std::vector<bool> is = graph->live();
    for (size_t i = 0; i < is.size(); ++i) {
      const graph::Node& node = graph->node(graph->order()[i]);
      if (node.is_source()) continue;
      const NodeChange* change = find(told, node.path());
      EXPECT_EQ(change && change->kind == NodeChange::Kind::removed, was[i] && !is[i]) << node.path();
    }
    for (const NodePlacement& place : tiny_->placement())
      if (const NodeChange* change = find(told, graph->node(place.node).path())) {
        EXPECT_EQ(change->device_after, place.device) << change->path;
      }
    EXPECT_EQ(told.tokens_read_again, record.kv_kept ? 0 : held);
  }
}

size_t nodes_that_run(const graph::Graph& graph) {
  return static_cast<size_t>(std::count_if(graph.order().begin(), graph.order().end(),
                                           [&](NodeId id) { return !graph.node(id).is_source(); }));
}

/// Without limits of the machine, the nodes of a layer that comes back are known from their equals in others;
/// and what nodes take by their medians is laid on what the step takes by its own.
TEST_F(PreviewTest, EqualWorkIsTakenToLastEquallyLong) {
  const std::shared_ptr<const runtime::Version> whole = tiny_.model().version();
  ASSERT_TRUE(tiny_->apply(edit_of("bypass scope=layers.1")).ok());
  const std::shared_ptr<const runtime::Version> bypassed = tiny_.model().version();
  Profile measured;
  measured.tokens = 1;
  measured.step.us = 50;  // far less than its nodes by their medians
  measured.fused = NodeTimes(1);
  const std::vector<int64_t> ten_us{10'000};
  for (const NodeId id : bypassed->fused->order())
    if (!bypassed->fused->node(id).is_source()) measured.fused.add(id, ten_us, 1, {.node = id});
  const DeviceLimits unknown;
  const StepTimeChange change =
      step_time_change({*bypassed->fused, unknown}, {*whole->fused, unknown}, measured, 40, DType::f16);
  const size_t before = nodes_that_run(*bypassed->fused), after = nodes_that_run(*whole->fused);
  ASSERT_GT(after, before + 5);
  EXPECT_EQ(change.unknown_nodes, 0U);
  EXPECT_DOUBLE_EQ(change.before, 50);
  EXPECT_NEAR(change.after, 50.0 * static_cast<double>(after) / static_cast<double>(before), 1e-6);
}

TEST_F(PreviewTest, AStepIsEstimatedFromWhatWasMeasured) {
  EXPECT_FALSE(preview({"bypass scope=layers.1"}).step_us.before_measured);
  tiny_->set_profiling(true);
  chat();
  const ProfilePtr profile = tiny_->profile(Phase::decode);
  ASSERT_GT(profile->step.us, 0);
  const StepTimeChange same = preview({"set node=sampler.sample attribute=top_k value=7"}).step_us;
  EXPECT_TRUE(same.before_measured);
  EXPECT_EQ(same.before, profile->step.us);
  EXPECT_NEAR(same.after, same.before, same.before * 1e-6);
  EXPECT_EQ(same.unknown_nodes, 0U);
  const StepTimeChange less = preview({"bypass scope=layers.1"}).step_us;
  EXPECT_LT(less.after, less.before);
  EXPECT_GT(less.after, 0);
  const StepTimeChange moved = preview({"place scope=layers.1 device=cuda:0"}).step_us;
  ASSERT_TRUE(tiny_->apply(edit_of("place scope=layers.1 device=cuda:0")).ok());
  const graph::GraphVersion fused = tiny_->fused_graph();
  size_t transfers = 0;
  for (const NodeId id : fused->order()) transfers += graph::is_transfer(fused->node(id)) ? 1 : 0;
  EXPECT_GE(moved.unknown_nodes, transfers) << "no memory's speed limits them";
}

}  // namespace
}  // namespace orrery::api
