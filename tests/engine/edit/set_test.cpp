// The set verb on a real model's graph: values by their types, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/edit/model_graphs.h"

namespace orrery::edit {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class Set : public ::testing::Test {
 protected:
  const graph::Attribute& attribute(std::string_view path, std::string_view name) const {
    return graph_.node(graph_.find_path(path)).attributes.find(name)->second;
  }
  std::string refusal(std::string_view words) {
    const auto refused = edit(graph_, words);
    return refused.ok() ? "" : refused.error().to_string();
  }

  Graph graph_ = graph_of("smollm2");
  const std::string before_ = print(graph_);
};

TEST_F(Set, ValuesAreReadAsTheTypeThatIsThere) {
  const auto journal = edit(graph_, "set node=sampler.sample attribute=top_k value=7");
  ASSERT_TRUE(journal.ok()) << journal.error().to_string();
  EXPECT_EQ(journal->name, "set top_k of sampler.sample to 7");
  EXPECT_EQ(attribute("sampler.sample", "top_k"), graph::Attribute(int64_t{7}));
  ASSERT_TRUE(edit(graph_, "set node=sampler.sample attribute=temperature value=1").ok());
  EXPECT_EQ(attribute("sampler.sample", "temperature"), graph::Attribute(1.0));
  ASSERT_TRUE(edit(graph_, "set node=sampler.sample attribute=samplers value=\"top_k, min_p\"").ok());
  EXPECT_EQ(attribute("sampler.sample", "samplers"), graph::Attribute(std::string("top_k, min_p")));
  ASSERT_TRUE(edit(graph_, "set node=output.norm attribute=eps value=1e-3").ok());
  EXPECT_EQ(attribute("output.norm", "eps"), graph::Attribute(1e-3));
  ASSERT_TRUE(edit(graph_, "set node=output.norm attribute=unit_offset value=true").ok());
  EXPECT_EQ(attribute("output.norm", "unit_offset"), graph::Attribute(true));
}

TEST_F(Set, UndoAndRedoAreExactAndTheContextStays) {
  const NodeId append = graph_.find_path("layers.29.attention.kv_append");
  ASSERT_TRUE(append.valid());
  const uint64_t hash = graph_.feed_hash(graph_.node(append).outputs.front());
  const auto journal = edit(graph_, "set node=sampler.sample attribute=mirostat value=2");
  ASSERT_TRUE(journal.ok());
  EXPECT_EQ(graph_.feed_hash(graph_.node(append).outputs.front()), hash);
  const std::string after = print(graph_);
  graph::undo(graph_, *journal);
  EXPECT_EQ(print(graph_), before_);
  graph::redo(graph_, *journal);
  EXPECT_EQ(print(graph_), after);
}

TEST_F(Set, RefusalsSayWhyAndLeaveTheGraph) {
  EXPECT_THAT(refusal("set node=sampler.sample attribute=top_k"), HasSubstr("The field value is missing"));
  EXPECT_THAT(refusal("set node=sampler.nope attribute=top_k value=1"),
              AllOf(HasSubstr("no such node"), HasSubstr("sampler.nope")));
  EXPECT_THAT(refusal("set node=sampler.sample attribute=topk value=1"),
              AllOf(HasSubstr("no attribute \"topk\""), HasSubstr("top_k")));
  for (const char* value : {"many", "1.5", "7 ", "99999999999999999999"})
    EXPECT_THAT(refusal(std::string("set node=sampler.sample attribute=top_k value=\"") + value + "\""),
                AllOf(HasSubstr("cannot be the top_k"), HasSubstr("it is 40 now")));
  EXPECT_THAT(refusal("set node=sampler.sample attribute=temperature value=nan"), HasSubstr("cannot be"));
  EXPECT_THAT(refusal("set node=output.norm attribute=unit_offset value=1"), HasSubstr("it is false now"));
  EXPECT_THAT(refusal("set node=sampler.sample attribute=top_k value=40"), HasSubstr("is 40 already"));
  EXPECT_THAT(refusal("set node=sampler.sample attribute=top_p value=2"),
              AllOf(HasSubstr("top_p is 2"), HasSubstr("sampler.sample")));
  EXPECT_THAT(refusal("set node=output.lm_head.weight attribute=dtype value=f32"),
              testing::AnyOf(HasSubstr("as the model's file has it"), HasSubstr("no such node")));
  EXPECT_EQ(print(graph_), before_);
}

}  // namespace
}  // namespace orrery::edit
