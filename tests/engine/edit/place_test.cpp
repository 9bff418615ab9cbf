// The place verb on a real model's graph: what is asked to run where, and what undo brings back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/engine/edit/model_graphs.h"

namespace orrery::edit {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Place : public ::testing::Test {
 protected:
  /// The devices that the scope's nodes ask for, the sources' left out.
  std::set<std::string_view> devices(std::string_view scope) const {
    std::set<std::string_view> found;
    for (const NodeId id : graph_.in_scope(scope))
      if (!graph_.node(id).is_source()) found.insert(device_of(graph_.node(id)));
    return found;
  }
  std::string refusal(std::string_view words) {
    const auto refused = edit(graph_, words);
    return refused.ok() ? "" : refused.error().to_string();
  }

  Graph graph_ = graph_of("smollm2");
  const std::string before_ = print(graph_);
};

TEST_F(Place, AScopeAsksForADevice) {
  const uint64_t hash = graph_.feed_hash(graph_.outputs().back());
  const auto journal = edit(graph_, "place scope=layers.4-7 device=cuda:0");
  ASSERT_TRUE(journal.ok()) << journal.error().to_string();
  EXPECT_EQ(journal->name, "place layers.4-7 on cuda:0");
  EXPECT_THAT(devices("layers.4"), ElementsAre("cuda:0"));
  EXPECT_THAT(devices("layers.7"), ElementsAre("cuda:0"));
  EXPECT_THAT(devices("layers.3"), ElementsAre(""));
  EXPECT_THAT(devices("layers.8"), ElementsAre(""));
  EXPECT_EQ(graph_.feed_hash(graph_.outputs().back()), hash) << "no number depends on it";
  EXPECT_TRUE(verify(graph_).empty());
}

TEST_F(Place, UndoAndRedoAreExact) {
  const auto journal = edit(graph_, "place scope=layers.*.mlp device=cuda:1");
  ASSERT_TRUE(journal.ok()) << journal.error().to_string();
  const std::string after = print(graph_);
  ASSERT_NE(after, before_);
  graph::undo(graph_, *journal);
  EXPECT_EQ(print(graph_), before_);
  graph::redo(graph_, *journal);
  EXPECT_EQ(print(graph_), after);
}

TEST_F(Place, OneNodeOrTheWholeModelAndBackHome) {
  ASSERT_TRUE(edit(graph_, "place scope=output.lm_head device=cuda:0").ok());
  EXPECT_THAT(devices("output.lm_head"), ElementsAre("cuda:0"));
  EXPECT_THAT(devices("output.norm"), ElementsAre(""));
  ASSERT_TRUE(edit(graph_, "place scope=* device=cpu").ok());
  EXPECT_THAT(devices(""), ElementsAre("cpu"));
  ASSERT_TRUE(edit(graph_, "place scope=* device=home").ok());
  EXPECT_EQ(print(graph_), before_);
}

TEST_F(Place, RefusalsSayWhyAndLeaveTheGraph) {
  EXPECT_THAT(refusal("place scope=layers.3"), HasSubstr("The field device is missing"));
  EXPECT_THAT(refusal("place scope=layers.3 device=gpu"),
              HasSubstr("\"gpu\" is not a device (device): use cpu"));
  EXPECT_THAT(refusal("place scope=layers.3 device=cuda:-1"), HasSubstr("is not a device"));
  EXPECT_THAT(refusal("place scope=layers.99 device=cpu"), HasSubstr("no such scope"));
  EXPECT_THAT(refusal("place scope=layers.3.attention.q_proj.weight device=cpu"),
              HasSubstr("Nothing runs in it"));
  EXPECT_THAT(refusal("place scope=layers.3 device=home"),
              HasSubstr("It is placed on home already (layers.3)"));
  EXPECT_EQ(print(graph_), before_);
  ASSERT_TRUE(edit(graph_, "place scope=layers.3 device=cuda:0").ok());
  EXPECT_THAT(refusal("place scope=layers.3.mlp device=cuda:0"), HasSubstr("on cuda:0 already"));
}

}  // namespace
}  // namespace orrery::edit
