// The attention verb on real models' graphs: what their attention nodes ask for, which heads readers get, and
// what undo brings back.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/edit/mask.h"
#include "tests/engine/edit/model_graphs.h"

namespace orrery::edit {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class AttentionVerb : public ::testing::Test {
 protected:
  void apply(std::string_view words) {
    const auto journal = edit(graph_, words);
    ASSERT_TRUE(journal.ok()) << journal.error().to_string();
    ASSERT_TRUE(graph::verify(graph_).empty());
  }
  std::string refusal(std::string_view words) {
    const auto refused = edit(graph_, words);
    return refused.ok() ? "" : refused.error().to_string();
  }
  const graph::Node& node(std::string_view path) const { return graph_.node(graph_.find_path(path)); }
  graph::Attribute attribute(std::string_view path, std::string_view name) const {
    return node(path).attributes.find(name)->second;
  }
  /// The node that a node reads first.
  std::string read_by(std::string_view path) const {
    return graph_.node(graph_.value(node(path).inputs[0]).producer).path();
  }
  uint64_t hash_of(std::string_view path) const { return graph_.feed_hash(node(path).outputs.front()); }
  /// Every attention node of both phases has it, or none.
  void expect_all(std::string_view name, const graph::Attribute& value) const {
    int found = 0;
    for (const NodeId id : graph_.order())
      if (heads_of(graph_.node(id))) {
        EXPECT_EQ(graph_.node(id).attributes.find(name)->second, value) << graph_.node(id).path();
        ++found;
      }
    EXPECT_GT(found, 0);
  }

  Graph graph_ = graph_of("smollm2");
  const std::string before_ = print(graph_);
};

using Text = std::string;

TEST_F(AttentionVerb, EveryLayerByFastmaxAndBackIsTheSameGraph) {
  const uint64_t first = hash_of("layers.0.attention.kv_append"),
                 second = hash_of("layers.1.attention.kv_append");
  const auto journal = edit(graph_, "attention scope=layers.* kind=fastmax p=1");
  ASSERT_TRUE(journal.ok()) << journal.error().to_string();
  EXPECT_EQ(journal->name, "attention of layers.*: kind=fastmax p=1");
  expect_all("kind", Text("fastmax"));
  expect_all("p", int64_t{1});
  expect_all("normalise", true);
  EXPECT_NE(hash_of("layers.0.attention.kv_append"), first) << "it keeps no keys any more";
  const graph::Node& state =
      graph_.node(graph_.value(node("layers.0.attention.kv_append").inputs[0]).producer);
  EXPECT_EQ(state.attributes.at("kind"), graph::Attribute(Text("summary")));
  EXPECT_EQ(to_string(graph_.value(state.outputs[0]).type), "f32[3, 68, 65]") << "1 + 64 features, in quads";
  EXPECT_NE(hash_of("layers.1.attention.kv_append"), second) << "those of the next layer are not";
  const std::string after = print(graph_);
  EXPECT_THAT(after, HasSubstr("kind=fastmax"));
  graph::undo(graph_, *journal);
  EXPECT_EQ(print(graph_), before_);
  graph::redo(graph_, *journal);
  EXPECT_EQ(print(graph_), after);
  apply("attention scope=layers.* limit=0.5");
  apply("attention scope=layers.* kind=softmax");
  EXPECT_EQ(print(graph_), before_);
  EXPECT_EQ(hash_of("layers.1.attention.kv_append"), second) << "so the context is there again";
}

TEST_F(AttentionVerb, WhatIsNotSaidStays) {
  apply("attention scope=layers.3 kind=fastmax limit=2");
  apply("attention scope=layers.3.attention window=64");
  EXPECT_EQ(attribute("layers.3.attention.sdpa", "kind"), graph::Attribute(Text("fastmax")));
  EXPECT_EQ(attribute("layers.3.attention.sdpa", "p"), graph::Attribute(int64_t{2}));
  EXPECT_EQ(attribute("layers.3.attention.sdpa", "limit"), graph::Attribute(2.0));
  EXPECT_EQ(attribute("layers.3.attention.sdpa", "window"), graph::Attribute(int64_t{64}));
  EXPECT_EQ(attribute("layers.3.attention.kv_cache", "kind"), graph::Attribute(Text("kv")))
      << "a window needs keys";
  EXPECT_EQ(attribute("layers.2.attention.sdpa", "window"), graph::Attribute(int64_t{0}));
  apply("attention scope=layers.3.attention.sdpa normalise=false window=0");
  EXPECT_EQ(attribute("layers.3.attention.sdpa", "normalise"), graph::Attribute(false));
}

TEST_F(AttentionVerb, HeadsThatAreNotKeptAreMultipliedByZero) {
  apply("place scope=layers.3 device=cuda:0");
  const std::string placed = print(graph_);
  apply("attention scope=layers.3-4 heads=0-5,8");
  EXPECT_EQ(read_by("layers.3.attention.o_proj"), "layers.3.attention.sdpa_mask");
  EXPECT_EQ(read_by("layers.3.attention.sdpa_mask"), "layers.3.attention.sdpa");
  EXPECT_EQ(read_by("layers.2.attention.o_proj"), "layers.2.attention.sdpa");
  EXPECT_EQ(device_of(node("layers.3.attention.sdpa_mask")), "cuda:0") << "where the attention runs";
  const auto kept = kept_of(graph_, graph_.find_path("layers.4.attention.sdpa"));
  ASSERT_TRUE(kept.ok());
  ASSERT_EQ(kept->size(), 576U);
  for (size_t column = 0; column < 576; ++column)
    EXPECT_EQ((*kept)[column], column / 64 <= 5 || column / 64 == 8) << column;
  const std::string once = print(graph_);
  const auto changed = edit(graph_, "attention scope=layers.3-4 heads=2");
  ASSERT_TRUE(changed.ok()) << changed.error().to_string();
  EXPECT_EQ(read_by("layers.3.attention.sdpa_mask"), "layers.3.attention.sdpa") << "the same mask";
  graph::undo(graph_, *changed);
  EXPECT_EQ(print(graph_), once);
  apply("attention scope=layers.3-4 heads=0-8");
  EXPECT_EQ(print(graph_), placed) << "all heads need no mask";
}

TEST_F(AttentionVerb, RefusalsSayWhyAndLeaveTheGraph) {
  EXPECT_THAT(refusal("attention scope=layers.3 kind=linear"),
              AllOf(HasSubstr("\"linear\" is not one of the choices (kind)"), HasSubstr("softmax, fastmax")));
  EXPECT_THAT(refusal("attention scope=layers.3 kind=fastmax p=3"), HasSubstr("it is from 1 to 2"));
  EXPECT_THAT(refusal("attention scope=layers.3 kind=fastmax limit=0"), HasSubstr("limit is 0"));
  EXPECT_THAT(refusal("attention scope=layers.3.mlp kind=fastmax"),
              HasSubstr("No attention is in it (layers.3.mlp)"));
  EXPECT_THAT(refusal("attention scope=layers.3"), HasSubstr("It attends so already (layers.3)"));
  EXPECT_THAT(refusal("attention scope=layers.3 kind=softmax"), HasSubstr("It attends so already"));
  EXPECT_THAT(refusal("attention scope=layers.3 heads=0-8"), HasSubstr("It attends so already"));
  EXPECT_THAT(refusal("attention scope=layers.3 p=1"),
              AllOf(HasSubstr("p is of fastmax"), HasSubstr("layers.3.attention.sdpa")));
  EXPECT_THAT(refusal("attention scope=layers.3 heads=7-9"),
              HasSubstr("It has no head 9 (layers.3.attention.sdpa): its heads are 0 to 8"));
  EXPECT_THAT(refusal("attention scope=layers.3 kind=fastmax p=1 normalise=false"),
              HasSubstr("weights 1 + s would be negative (layers.3.attention.sdpa): add normalise=true"));
  EXPECT_THAT(refusal("attention scope=layers.3 kind=fastmax p=1 limit=1.5"),
              HasSubstr("limit 1.5, weights 1 + s would be negative"));
  EXPECT_EQ(print(graph_), before_);
}

TEST_F(AttentionVerb, ASoftcapIsNamedBeforeItIsLost) {
  apply("set node=layers.3.attention.sdpa attribute=softcap value=50");
  const std::string capped = print(graph_);
  EXPECT_THAT(refusal("attention scope=layers.* kind=fastmax"),
              AllOf(HasSubstr("softcap is 50"), HasSubstr("layers.3.attention.sdpa")));
  EXPECT_EQ(print(graph_), capped);
}

TEST_F(AttentionVerb, EncodersTakeItToo) {
  graph_ = graph_of("minilm");
  const std::string before = print(graph_);
  apply("attention scope=layers.* kind=fastmax p=1 window=16 heads=1-11");
  expect_all("kind", Text("fastmax"));
  expect_all("window", int64_t{16});
  const std::vector<std::string> scopes = {"layers.0", "layers.5"};
  for (const std::string& scope : scopes) {
    int masks = 0;
    for (const NodeId id : graph_.in_scope(scope)) masks += graph_.node(id).op->name == "mul";
    EXPECT_EQ(masks, 1) << scope;
  }
  apply("attention scope=layers.* kind=softmax window=0 heads=0-11");
  EXPECT_EQ(print(graph_), before);
}

// What zero and attention share: of any node with columns, changed in place, and left alone where others read
// it.
TEST(Masks, AreOneForEachNode) {
  Graph graph = graph_of("smollm2");
  const NodeId up = graph.find_path("layers.2.mlp.up_proj");
  const std::string before = print(graph);
  const auto keep = [&](const Kept& kept) {
    graph::Transaction transaction(graph, "mask");
    const auto changed = keep_columns(graph, transaction, up, kept);
    EXPECT_TRUE(changed.ok() && transaction.commit().ok());
    return changed.ok() && *changed;
  };
  Kept kept(1536, true);
  EXPECT_FALSE(keep(kept)) << "nothing to do";
  kept[7] = false;
  EXPECT_TRUE(keep(kept));
  EXPECT_EQ(kept_of(graph, up).value(), kept);
  kept[1535] = false;
  EXPECT_TRUE(keep(kept));
  EXPECT_EQ(kept_of(graph, up).value(), kept);
  EXPECT_FALSE(graph.find_path("layers.2.mlp.up_proj_mask_2").valid());
  EXPECT_EQ(columns_of(graph, up, "7,1535", 1536, "row")->at(7), true);
  EXPECT_THAT(columns_of(graph, up, "0-1536", 1536, "row").error().to_string(),
              HasSubstr("It has no row 1536 (layers.2.mlp.up_proj): its rows are 0 to 1535"));
  EXPECT_TRUE(keep(Kept(1536, true)));
  EXPECT_EQ(print(graph), before);
  EXPECT_THAT(kept_of(graph, graph.find_path("layers.2.attention.kv_append")).error().to_string(),
              HasSubstr("of which no columns can be taken"));
}

TEST(Masks, AMaskThatAnotherNodeReadsStaysWithThatNode) {
  Graph graph = graph_of("smollm2");
  ASSERT_TRUE(edit(graph, "attention scope=layers.2-3 heads=1").ok());
  const auto mask = [&](const char* layer) {
    return graph.find_path(fmt::format("layers.{}.attention.sdpa_mask", layer));
  };
  graph::Transaction share(graph, "share");
  ASSERT_TRUE(share.set_input(mask("3"), 1, graph.node(mask("2")).inputs[1]).ok());
  ASSERT_TRUE(share.commit().ok());
  ASSERT_TRUE(edit(graph, "attention scope=layers.3 heads=0-4").ok());
  const auto count = [&](const char* path) {
    const Kept kept = kept_of(graph, graph.find_path(path)).value();
    return std::count(kept.begin(), kept.end(), true);
  };
  EXPECT_EQ(count("layers.2.attention.sdpa"), 64);
  EXPECT_EQ(count("layers.3.attention.sdpa"), 5 * 64);
}

}  // namespace
}  // namespace orrery::edit
