// Linears that are split between cards: by rows of the weight, joined by all_gather, and by its columns,
// added by all_reduce. Built by hand; the numbers are those of the whole linear. On the test module.
#include <gmock/gmock.h>

#include "engine/compile/placement.h"
#include "engine/graph/transaction.h"
#include "tests/engine/runtime/tiny_model.h"

namespace orrery::runtime {
namespace {

using testing::HasSubstr;

/// A token to logits: embedding, one linear up and one down, head.
class SplitLinear : public testing::Test {
 protected:
  static constexpr int64_t kInner = TinyModel::kInner, kLeft = 40;  // rows of `up` in the first part

  SplitLinear() {
    for (int i = 0; i < 3; ++i) {
      auto card = open_device(i);
      EXPECT_TRUE(card.ok()) << (card.ok() ? "" : card.error().to_string());
      if (card.ok()) cards_.push_back(card.value());
    }
    file_.add("embedding", TinyModel::kVocabulary, TinyModel::kWidth, 1.0F);
    file_.add("up", kInner, TinyModel::kWidth, 0.3F);
    file_.add("down", TinyModel::kWidth, kInner, 0.3F);
    file_.add("head", TinyModel::kVocabulary, TinyModel::kWidth, 0.3F);
    weights_ = std::make_shared<weights::WeightStore>(file_.file(), nullptr);
  }

  ValueId op(graph::Graph& graph, const std::string& op, const std::string& scope, const std::string& name,
             graph::Attributes attributes, std::vector<ValueId> inputs) const {
    auto node = graph.add_node({op, scope, name, std::move(attributes), std::move(inputs), {}, {}});
    EXPECT_TRUE(node.ok()) << name << ": " << (node.ok() ? "" : node.error().to_string());
    return graph.node(node.value()).outputs.at(0);
  }
  ValueId weight(graph::Graph& graph, const std::string& tensor, std::vector<int64_t> rows = {}) const {
    std::vector<int64_t> shape = file_.file()->find(tensor)->shape;
    if (!rows.empty()) shape[0] = rows[1];
    const std::string name = rows.empty() ? tensor : tensor + "_" + std::to_string(rows[0]);
    graph::Attributes attributes{{"tensor", tensor}, {"dtype", std::string("f32")}, {"shape", shape}};
    if (!rows.empty()) attributes["rows"] = rows;
    return op(graph, "weight", "weights", name, std::move(attributes), {});
  }
  graph::Graph whole() const {
    graph::Graph graph(ops::registry());
    const ValueId ids = op(graph, "input", "inputs", "token_ids", {{"name", std::string("token_ids")}}, {});
    const ValueId rows = op(graph, "input", "inputs", "rows", {{"name", std::string("output_rows")}}, {});
    const ValueId h = op(graph, "embedding", "", "embed", {}, {ids, weight(graph, "embedding")});
    const ValueId inner = op(graph, "linear", "up", "whole", {}, {h, weight(graph, "up")});
    const ValueId activated = op(graph, "silu", "up", "act", {}, {inner});
    const ValueId out = op(graph, "linear", "down", "whole", {}, {activated, weight(graph, "down")});
    const ValueId kept = op(graph, "select_rows", "output", "rows", {}, {out, rows});
    const ValueId logits = op(graph, "linear", "output", "head", {}, {kept, weight(graph, "head")});
    graph.set_outputs({op(graph, "sample", "sampler", "sample", {}, {logits}), logits});
    return graph;
  }

  static graph::Graph::NewNode on(const std::string& device, const std::string& op, const std::string& scope,
                                  const std::string& name, std::vector<ValueId> inputs,
                                  graph::Attributes attributes = {}) {
    attributes["device"] = device;
    return {op, scope, name, std::move(attributes), std::move(inputs), {}, {}};
  }
  static ValueId output(const graph::Graph& graph, const char* path) {
    return graph.node(graph.find_path(path)).outputs.at(0);
  }

  std::shared_ptr<Model> placed(const graph::Graph& graph) const {
    const auto fused = TinyModel::version(std::make_shared<const graph::Graph>(graph))->fused;
    auto placement = compile::place(fused, {});
    EXPECT_TRUE(placement.ok()) << (placement.ok() ? "" : placement.error().to_string());
    EXPECT_TRUE(placement->moved.empty());
    std::vector<weights::DevicePtr> cards;
    for (const kernels::DeviceId id : placement->cards) cards.push_back(weights::find_card(cards_, id));
    auto version = make_version({std::make_shared<const graph::Graph>(graph), placement->graph, {}, cards});
    Model::Options options = TinyModel::exact_options();
    options.threads = 1;
    return std::make_shared<Model>(weights_, version.value(), options);
  }
  void expect_as_whole(const graph::Graph& split, double tolerance) {
    const std::vector<int32_t> text = tiny_text(21, 1);
    const TinyReply expected = tiny_reply(cpu_, placed(whole()), text, 20);
    const TinyReply reply = tiny_reply(cpu_, placed(split), text, 20);
    EXPECT_EQ(reply.ids, expected.ids);
    ASSERT_EQ(reply.logprobs.size(), expected.logprobs.size());
    for (size_t i = 0; i < reply.logprobs.size(); ++i)
      EXPECT_NEAR(reply.logprobs[i], expected.logprobs[i], tolerance) << "token " << i;
  }

  std::vector<weights::DevicePtr> cards_;
  TinyFile file_;
  std::shared_ptr<weights::WeightStore> weights_;
  DeviceScheduler cpu_{1};
};

TEST_F(SplitLinear, ByRowsOverTwoCardsJoinedByAllGather) {
  for (const char* home : {"cpu", "cuda:2"}) {
    graph::Graph graph = whole();
    const ValueId h = output(graph, "embed");
    const ValueId left = weight(graph, "up", {0, kLeft}),
                  right = weight(graph, "up", {kLeft, kInner - kLeft});
    graph::Transaction edit(graph, "split up.whole");
    const auto parts = {std::tuple{"cuda:0", "left", left}, std::tuple{"cuda:1", "right", right}};
    std::vector<ValueId> made;
    for (const auto& [device, name, rows] : parts) {
      auto part = edit.add_node(on(device, "linear", "up", name, {h, rows}));
      ASSERT_TRUE(part.ok()) << part.error().to_string();
      made.push_back(graph.node(part.value()).outputs[0]);
    }
    auto joined = edit.add_node(on(home, "all_gather", "up", "joined", made));
    ASSERT_TRUE(joined.ok()) << joined.error().to_string();
    ASSERT_TRUE(edit.set_input(graph.find_path("up.act"), 0, graph.node(joined.value()).outputs[0]).ok());
    const auto journal = edit.commit();
    ASSERT_TRUE(journal.ok()) << journal.error().to_string();
    expect_as_whole(graph, 1e-5);
  }
}

TEST_F(SplitLinear, ByColumnsOverTwoCardsAddedByAllReduce) {
  graph::Graph graph = whole();
  const ValueId activated = output(graph, "up.act"), whole_weight = output(graph, "weights.down");
  graph::Transaction edit(graph, "split down.whole");
  std::vector<ValueId> made;
  for (const auto& [device, name, begin, count] : {std::tuple{"cuda:0", "left", int64_t{0}, kLeft},
                                                   std::tuple{"cuda:1", "right", kLeft, kInner - kLeft}}) {
    const graph::Attributes columns{{"begin", begin}, {"count", count}};
    auto slice =
        edit.add_node(on(device, "split", "down", std::string(name) + "_columns", {activated}, columns));
    auto part =
        edit.add_node(on(device, "split", "down", std::string(name) + "_weight", {whole_weight}, columns));
    ASSERT_TRUE(slice.ok() && part.ok());
    auto linear =
        edit.add_node(on(device, "linear", "down", name,
                         {graph.node(slice.value()).outputs[0], graph.node(part.value()).outputs[0]}));
    ASSERT_TRUE(linear.ok()) << linear.error().to_string();
    made.push_back(graph.node(linear.value()).outputs[0]);
  }
  auto sum = edit.add_node({"all_reduce", "down", "sum", {}, made, {}, {}});
  ASSERT_TRUE(sum.ok()) << sum.error().to_string();
  ASSERT_TRUE(edit.set_input(graph.find_path("output.rows"), 0, graph.node(sum.value()).outputs[0]).ok());
  const auto journal = edit.commit();
  ASSERT_TRUE(journal.ok()) << journal.error().to_string();
  expect_as_whole(graph, 1e-4);
}

TEST_F(SplitLinear, APartOfAWeightIsKeptOnItsCardAlone) {
  graph::Graph graph = whole();
  const ValueId h = output(graph, "embed"), whole_weight = output(graph, "weights.up");
  graph::Transaction edit(graph, "split up.whole");
  std::vector<ValueId> made;
  for (const auto& [device, name, begin, count] : {std::tuple{"cuda:0", "left", int64_t{0}, kLeft},
                                                   std::tuple{"cuda:1", "right", kLeft, kInner - kLeft}}) {
    auto part = edit.add_node(on(device, "split", "up", std::string(name) + "_weight", {whole_weight},
                                 {{"axis", int64_t{0}}, {"begin", begin}, {"count", count}}));
    ASSERT_TRUE(part.ok()) << part.error().to_string();
    auto linear = edit.add_node(on(device, "linear", "up", name, {h, graph.node(part.value()).outputs[0]}));
    ASSERT_TRUE(linear.ok()) << linear.error().to_string();
    made.push_back(graph.node(linear.value()).outputs[0]);
  }
  auto joined = edit.add_node({"all_gather", "up", "joined", {}, made, {}, {}});
  ASSERT_TRUE(joined.ok()) << joined.error().to_string();
  ASSERT_TRUE(edit.set_input(graph.find_path("up.act"), 0, graph.node(joined.value()).outputs[0]).ok());
  ASSERT_TRUE(edit.commit().ok());
  const auto model = placed(graph);
  tiny_reply(cpu_, model, tiny_text(21, 1), 3);
  size_t parts = 0;
  for (const weights::DerivedWeight& form : weights_->derived()) {
    if (form.tensor.find("up") == std::string::npos || form.transform.find("on ") == std::string::npos)
      continue;
    EXPECT_TRUE(form.tensor == "up, 40 rows from 0" || form.tensor == "up, 56 rows from 40") << form.tensor;
    ++parts;
  }
  EXPECT_EQ(parts, 2U);
  expect_as_whole(graph, 1e-5);
}

TEST_F(SplitLinear, WhatDoesNotFitIsRefusedWithBothShapes) {
  graph::Graph graph = whole();
  const ValueId h = output(graph, "embed"), inner = output(graph, "up.whole");
  const auto refusal = [&](const std::string& op, std::vector<ValueId> inputs,
                           graph::Attributes attributes = {}) {
    const auto node = graph.add_node({op, "", "refused", std::move(attributes), std::move(inputs), {}, {}});
    EXPECT_FALSE(node.ok());
    return node.ok() ? std::string() : node.error().to_string();
  };
  EXPECT_THAT(refusal("all_reduce", {h, inner}),
              HasSubstr("part 1 is f32[tokens, 96], and the first is f32[tokens, 64]"));
  EXPECT_THAT(refusal("all_gather", {h, output(graph, "output.rows")}), HasSubstr("they need as many rows"));
  EXPECT_THAT(refusal("all_gather", {h}), HasSubstr("parts is 1 long; two or more are joined"));
  EXPECT_THAT(refusal("split", {h}, {{"begin", int64_t{60}}, {"count", int64_t{5}}}),
              HasSubstr("5 columns from 60 on are asked of f32[tokens, 64]"));
  EXPECT_THAT(refusal("split", {h}, {{"axis", int64_t{0}}, {"begin", int64_t{0}}, {"count", int64_t{1}}}),
              HasSubstr("only its columns can be split"));
}

}  // namespace
}  // namespace orrery::runtime
