// The precision verb on a real model's graph: what is asked to compute in what, and what undo brings back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/engine/edit/model_graphs.h"

namespace orrery::edit {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class PrecisionVerb : public ::testing::Test {
 protected:
  /// What the scope's nodes ask for, the sources' left out.
  std::set<std::string_view> asked(std::string_view scope) const {
    std::set<std::string_view> found;
    for (const NodeId id : graph_.in_scope(scope))
      if (!graph_.node(id).is_source()) found.insert(precision_of(graph_.node(id)));
    return found;
  }
  std::string refusal(std::string_view words) {
    const auto refused = edit(graph_, words);
    return refused.ok() ? "" : refused.error().to_string();
  }
  uint64_t hash() const { return graph_.feed_hash(graph_.outputs().back()); }

  Graph graph_ = graph_of("smollm2");
  const std::string before_ = print(graph_);
};

TEST_F(PrecisionVerb, AScopeAsksForOneAndItsNumbersAreOthers) {
  const uint64_t before = hash();
  const auto journal = edit(graph_, "precision scope=layers.4-7 dtype=int8");
  ASSERT_TRUE(journal.ok()) << journal.error().to_string();
  EXPECT_EQ(journal->name, "precision of layers.4-7: int8");
  EXPECT_THAT(asked("layers.4"), ElementsAre("int8"));
  EXPECT_THAT(asked("layers.7"), ElementsAre("int8"));
  EXPECT_THAT(asked("layers.8"), ElementsAre(""));
  EXPECT_EQ(common_precision(graph_), "");
  EXPECT_NE(hash(), before);
  EXPECT_TRUE(verify(graph_).empty());
}

TEST_F(PrecisionVerb, UndoAndRedoAreExact) {
  const uint64_t before = hash();
  const auto journal = edit(graph_, "precision scope=layers.*.mlp dtype=exact");
  ASSERT_TRUE(journal.ok()) << journal.error().to_string();
  const std::string after = print(graph_);
  ASSERT_NE(after, before_);
  graph::undo(graph_, *journal);
  EXPECT_EQ(print(graph_), before_);
  EXPECT_EQ(hash(), before);
  graph::redo(graph_, *journal);
  EXPECT_EQ(print(graph_), after);
}

TEST_F(PrecisionVerb, OneNodeOrTheWholeModelAndBackToItsOwn) {
  ASSERT_TRUE(edit(graph_, "precision scope=output.lm_head dtype=exact").ok());
  EXPECT_THAT(asked("output.lm_head"), ElementsAre("exact"));
  ASSERT_TRUE(edit(graph_, "precision scope=* dtype=int8").ok());
  EXPECT_THAT(asked(""), ElementsAre("int8"));
  EXPECT_EQ(common_precision(graph_), "int8") << "it is the model's now";
  ASSERT_TRUE(edit(graph_, "precision scope=layers.2 dtype=default").ok());
  EXPECT_THAT(asked("layers.2"), ElementsAre(""));
  EXPECT_EQ(common_precision(graph_), "int8");
  ASSERT_TRUE(edit(graph_, "precision scope=* dtype=default").ok());
  EXPECT_EQ(print(graph_), before_);
}

TEST_F(PrecisionVerb, RefusalsSayWhyAndLeaveTheGraph) {
  EXPECT_THAT(refusal("precision scope=layers.3"), HasSubstr("The field dtype is missing"));
  EXPECT_THAT(refusal("precision scope=layers.3 dtype=fp8"),
              AllOf(HasSubstr("\"fp8\" is not one of the choices (dtype)"),
                    HasSubstr("use one of balanced, exact, bf16, int16, int8, default")));
  EXPECT_THAT(refusal("precision scope=layers.99 dtype=int8"), HasSubstr("no such scope"));
  EXPECT_THAT(refusal("precision scope=layers.3.attention.q_proj.weight dtype=int8"),
              HasSubstr("Nothing runs in it"));
  EXPECT_THAT(refusal("precision scope=layers.3 dtype=default"),
              HasSubstr("It computes in default already (layers.3)"));
  EXPECT_EQ(print(graph_), before_);
  ASSERT_TRUE(edit(graph_, "precision scope=layers.3 dtype=bf16").ok());
  EXPECT_THAT(refusal("precision scope=layers.3.mlp dtype=bf16"), HasSubstr("in bf16 already"));
}

TEST_F(PrecisionVerb, NoNodeTakesAnotherWord) {
  const NodeId node = graph_.find_path("output.lm_head");
  const auto refused = graph_.set_attribute(node, "precision", graph::Attribute(std::string("fp8")));
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().to_string(), HasSubstr("balanced, exact, bf16, int16, int8"));
}

}  // namespace
}  // namespace orrery::edit
