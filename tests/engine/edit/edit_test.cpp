// The bypass verb on the real models' graphs; what an edit leaves behind, and what undo brings back.
#include "engine/edit/edit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/ops/lowering.h"
#include "tests/engine/edit/model_graphs.h"

namespace orrery::edit {
namespace {

using ::testing::HasSubstr;

size_t live_count(const Graph& graph, std::string_view scope) {
  const std::vector<bool> live = graph.live();
  const std::vector<NodeId> inside = graph.in_scope(scope);
  size_t count = 0;
  for (size_t i = 0; i < live.size(); ++i)
    count += live[i] && std::find(inside.begin(), inside.end(), graph.order()[i]) != inside.end() ? 1 : 0;
  return count;
}

ValueId output_of(const Graph& graph, std::string_view path) {
  return graph.node(graph.find_path(path)).outputs[0];
}
ValueId input_of(const Graph& graph, std::string_view path, size_t input) {
  return graph.node(graph.find_path(path)).inputs[input];
}

class Llama : public ::testing::Test {
 protected:
  Graph graph_ = graph_of("smollm2");
  const std::string before_ = print(graph_);
};

TEST_F(Llama, BypassOfALayerJoinsItsNeighbours) {
  const size_t outputs = graph_.outputs().size();
  auto journal = edit(graph_, "bypass scope=layers.3");
  ASSERT_TRUE(journal.ok()) << journal.error().to_string();
  EXPECT_EQ(journal->name, "bypass layers.3");
  EXPECT_EQ(input_of(graph_, "layers.4.attention.norm", 0), output_of(graph_, "layers.2.mlp.residual"));
  EXPECT_EQ(input_of(graph_, "layers.4.attention.residual", 0), output_of(graph_, "layers.2.mlp.residual"));
  EXPECT_EQ(live_count(graph_, "layers.3"), 0U);
  EXPECT_GT(live_count(graph_, "layers.4"), 10U);
  EXPECT_EQ(graph_.outputs().size(), outputs - 1);  // its state
  EXPECT_TRUE(verify(graph_).empty());
  EXPECT_TRUE(graph_.find_path("layers.3.attention.sdpa").valid());  // still drawn
}

TEST_F(Llama, UndoAndRedoAreExact) {
  auto journal = edit(graph_, "bypass scope=layers.5-7");
  ASSERT_TRUE(journal.ok()) << journal.error().to_string();
  const std::string after = print(graph_);
  ASSERT_NE(after, before_);
  graph::undo(graph_, *journal);
  EXPECT_EQ(print(graph_), before_);
  graph::redo(graph_, *journal);
  EXPECT_EQ(print(graph_), after);
}

TEST_F(Llama, PartsOfALayerAndPatterns) {
  for (const char* words : {"bypass scope=layers.3.attention", "bypass scope=layers.3.mlp"}) {
    auto journal = edit(graph_, words);
    ASSERT_TRUE(journal.ok()) << journal.error().to_string();
  }
  EXPECT_EQ(live_count(graph_, "layers.3"), 0U);
  auto all = edit(graph_, "bypass scope=layers.10-29.mlp");
  ASSERT_TRUE(all.ok()) << all.error().to_string();
  EXPECT_EQ(live_count(graph_, "layers.10.mlp") + live_count(graph_, "layers.29.mlp"), 0U);
  EXPECT_GT(live_count(graph_, "layers.29.attention"), 5U);
  EXPECT_GT(live_count(graph_, "layers.9.mlp"), 5U);
  EXPECT_TRUE(verify(graph_).empty());
}

TEST_F(Llama, SeveralPatternsBetweenCommas) {
  auto journal = edit(graph_, "bypass scope=layers.3,layers.10-11.mlp,layers.3");
  ASSERT_TRUE(journal.ok()) << journal.error().to_string();
  EXPECT_EQ(live_count(graph_, "layers.3") + live_count(graph_, "layers.10.mlp"), 0U);
  EXPECT_EQ(live_count(graph_, "layers.11.mlp"), 0U);
  EXPECT_GT(live_count(graph_, "layers.11.attention"), 5U);
  graph::undo(graph_, *journal);
  EXPECT_EQ(print(graph_), before_);
}

TEST_F(Llama, WhatOfARecipeDoesNotFitIsTold) {
  const auto bypass = [](const char* scope) { return Edit{"bypass", {{"scope", scope}}}; };
  EXPECT_TRUE(misfits(graph_, {bypass("layers.3"), bypass("layers.7-9")}).empty());
  const std::vector<Misfit> found =
      misfits(graph_, {bypass("layers.77"), bypass("layers.3"), bypass("encoder.0"), bypass("layers.5")});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].index, 0U);
  EXPECT_THAT(found[0].error.to_string(), HasSubstr("layers.77"));
  EXPECT_EQ(found[1].index, 2U);
  EXPECT_EQ(print(graph_), before_);
}

TEST_F(Llama, EveryLayerAtOnce) {
  auto journal = edit(graph_, "bypass scope=layers.*");
  ASSERT_TRUE(journal.ok()) << journal.error().to_string();
  EXPECT_EQ(live_count(graph_, "layers"), 0U);
  EXPECT_EQ(graph_.outputs().size(), 2U);  // tokens and logits
  EXPECT_EQ(input_of(graph_, "output.select_rows", 0), output_of(graph_, "embed.token_embedding"));
  graph::undo(graph_, *journal);
  EXPECT_EQ(print(graph_), before_);
}

TEST_F(Llama, TheLastLayerAndTheFirst) {
  ASSERT_TRUE(edit(graph_, "bypass scope=layers.29").ok());
  EXPECT_EQ(input_of(graph_, "output.select_rows", 0), output_of(graph_, "layers.28.mlp.residual"));
  ASSERT_TRUE(edit(graph_, "bypass scope=layers.0").ok());
  EXPECT_EQ(input_of(graph_, "layers.1.attention.norm", 0), output_of(graph_, "embed.token_embedding"));
}

TEST_F(Llama, RefusalsNameWhatDoesNotFitAndLeaveTheGraph) {
  const std::pair<const char*, std::vector<std::string>> cases[] = {
      {"bypass scope=embed", {"No activation enters"}},
      {"bypass scope=output", {"output.lm_head:dst", "outputs, 49152", "tokens, 576"}},
      {"bypass scope=layers.3.attention.k_proj",
       {"tokens, 576", "tokens, 192", "layers.3.attention.k_proj:dst"}},
      {"bypass scope=layers.3.mlp.gate", {"2 activations enter"}},
      {"bypass scope=layers.30", {"no such scope", "layers.30"}},
      {"bypass scope=layers.28-31", {"both ends"}},
      {"bypass scope=layers.3,layers.99", {"no such scope", "layers.99"}},
      {"bypass scope=layers.3,", {"no such scope"}},
      {"bypass scope=layers.7-3", {"no such scope"}},
      {"bypass scope=layers.", {"no such scope"}},
      {"bypass scope=*", {"No activation enters"}},
      {"bypass scope=layers.0-99999999999999999999", {"no such scope"}}};
  for (const auto& [words, parts] : cases) {
    SCOPED_TRACE(words);
    auto refused = edit(graph_, words);
    ASSERT_FALSE(refused.ok());
    for (const std::string& part : parts) EXPECT_THAT(refused.error().to_string(), HasSubstr(part));
    EXPECT_EQ(print(graph_), before_);
  }
}

TEST_F(Llama, TwiceIsRefused) {
  ASSERT_TRUE(edit(graph_, "bypass scope=layers.3").ok());
  const std::string once = print(graph_);
  auto again = edit(graph_, "bypass scope=layers.3");
  ASSERT_FALSE(again.ok());
  EXPECT_THAT(again.error().to_string(), HasSubstr("bypassed already"));
  // In the second of two scopes: the first is taken back too.
  EXPECT_FALSE(edit(graph_, "bypass scope=layers.2-3").ok());
  EXPECT_EQ(print(graph_), once);
}

TEST_F(Llama, CanBypassSaysWhatBypassWouldSay) {
  for (const char* scope : {"layers.0", "layers.29", "layers.4.mlp", "layers.4.attention"})
    EXPECT_TRUE(can_bypass(graph_, scope).ok()) << scope;
  for (const char* scope : {"", "layers", "embed", "output", "sampler", "nothing", "layers.4.mlp.gate"})
    EXPECT_EQ(can_bypass(graph_, scope).ok(), std::string_view(scope) == "layers") << scope;
  EXPECT_TRUE(can_bypass(graph_, "layers.4-7,layers.9.mlp").ok());
  EXPECT_THAT(can_bypass(graph_, "layers.4-7,layers.9.mlp.gate").error().to_string(), HasSubstr("layers.9"));
  EXPECT_THAT(can_bypass(graph_, "layers.4,layers.4.mlp").error().to_string(), HasSubstr("bypassed already"))
      << "by the first of the two";
  EXPECT_EQ(print(graph_), before_);
}

TEST(Bert, LayersAndTheirParts) {
  Graph graph = graph_of("minilm");
  const std::string before = print(graph);
  auto layer = edit(graph, "bypass scope=layers.5");
  ASSERT_TRUE(layer.ok()) << layer.error().to_string();
  EXPECT_EQ(input_of(graph, "output.pool", 0), output_of(graph, "layers.4.mlp.norm"));
  auto part = edit(graph, "bypass scope=layers.0.attention");
  ASSERT_TRUE(part.ok()) << part.error().to_string();
  EXPECT_EQ(input_of(graph, "layers.0.mlp.up_proj", 0), output_of(graph, "embed.norm"));
  EXPECT_TRUE(verify(graph).empty());
  graph::undo(graph, *part);
  graph::undo(graph, *layer);
  EXPECT_EQ(print(graph), before);
}

TEST(Bypass, DeadNodesInTheScopeDoNotCount) {
  Graph graph(ops::registry());
  const auto add = [&](const char* op, const char* scope, const char* name, std::vector<ValueId> inputs,
                       graph::Attributes attributes = {}) {
    auto node = graph.add_node({op, scope, name, std::move(attributes), std::move(inputs), {}, {}});
    EXPECT_TRUE(node.ok()) << node.error().to_string();
    return graph.node(*node).outputs[0];
  };
  const ValueId ids = add("input", "a", "ids", {}, {{"name", std::string("token_ids")}});
  const ValueId table = add(
      "weight", "a", "table", {},
      {{"tensor", std::string("t")}, {"dtype", std::string("f32")}, {"shape", std::vector<int64_t>{4, 8}}});
  const ValueId x = add("embedding", "a", "x", {ids, table}),
                other = add("embedding", "a", "other", {ids, table});
  const ValueId inside = add("relu", "s", "inside", {x});
  add("relu", "s", "dead", {other});
  graph.set_outputs({add("tanh", "b", "out", {inside})});
  auto journal = edit(graph, "bypass scope=s");
  ASSERT_TRUE(journal.ok()) << journal.error().to_string();
  EXPECT_EQ(input_of(graph, "b.out", 0), x);
}

TEST(Verbs, SayWhatTheyAreAndWhatTheyTake) {
  std::vector<std::string_view> names;
  for (const Verb& verb : verbs()) {
    names.push_back(verb.name);
    EXPECT_FALSE(verb.doc.empty()) << verb.name;
    EXPECT_FALSE(verb.fields.empty()) << verb.name;
    for (const Field& field : verb.fields) {
      EXPECT_FALSE(field.doc.empty()) << verb.name << " " << field.name;
      EXPECT_EQ(field.kind == FieldKind::choice, !field.choices.empty()) << verb.name << " " << field.name;
      EXPECT_EQ(verb.field(field.name), &field);
      EXPECT_TRUE(field.fallback.empty() || check_field(field, field.fallback).ok()) << field.name;
    }
    EXPECT_EQ(find_verb(verb.name), &verb);
  }
  EXPECT_THAT(names, ::testing::IsSupersetOf({"attention", "bypass", "place", "precision", "set"}));
  EXPECT_EQ(find_verb("nothing"), nullptr);
  EXPECT_THAT(usage(*find_verb("scale")), HasSubstr("scale node= factor= [as=]: "));
}

TEST(Fields, AreCheckedByTheirKinds) {
  constexpr std::string_view kChoices[] = {"q8_0", "q4_k"};
  const struct {
    Field field;
    std::vector<std::string_view> fit, unfit;
  } cases[] = {
      {{.name = "n", .kind = FieldKind::integer, .least = 1, .most = 9},
       {"1", "9"},
       {"0", "10", "1.5", "one", "9 "}},
      {{.name = "x", .kind = FieldKind::real, .least = 0}, {"0", "0.5", "1e3"}, {"-1", "nan", "", "1,5"}},
      {{.name = "f", .kind = FieldKind::flag}, {"true", "false"}, {"yes", "1"}},
      {{.name = "c", .kind = FieldKind::choice, .choices = kChoices}, {"q8_0"}, {"Q8_0", "q4_0"}},
      {{.name = "d", .kind = FieldKind::device}, {"cpu", "cuda:1", "home"}, {"gpu", "cuda"}},
      {{.name = "r", .kind = FieldKind::ranges}, {"0", "0-3,7", "2,1"}, {"3-2", "-1", "1-", "1,,2", "a"}},
      {{.name = "as", .kind = FieldKind::name}, {"a", "layers.3.mlp@2"}, {".a", "a.", "a..b", "a b", "a:b"}},
      {{.name = "v", .kind = FieldKind::value}, {"a.b:dst"}, {"a.b"}},
      {{.name = "i", .kind = FieldKind::input}, {"a.0"}, {"a"}},
      {{.name = "o", .kind = FieldKind::attributes}, {"{}", R"({"eps": 1})"}, {"[]", "eps"}}};
  for (const auto& [field, fit, unfit] : cases) {
    for (const std::string_view text : fit)
      EXPECT_TRUE(check_field(field, text).ok()) << field.name << " " << text;
    for (const std::string_view text : unfit) {
      const auto refused = check_field(field, text);
      ASSERT_FALSE(refused.ok()) << field.name << " " << text;
      EXPECT_EQ(refused.error().where, field.name);
      EXPECT_FALSE(refused.error().advice.empty());
    }
  }
}

}  // namespace
}  // namespace orrery::edit
