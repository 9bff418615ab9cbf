// Structure of fused graphs: what fuses, what must not, what origins say. That the numbers are equal is
// tested where graphs run.
#include "engine/passes/passes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>

#include "engine/models/builder.h"
#include "engine/ops/lowering.h"

namespace orrery::passes {
namespace {

using graph::Attributes;
using graph::Graph;
using graph::Node;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Builds small graphs in scope "s"; everything is f32[tokens, 8] unless said.
class Small {
 public:
  Graph graph{ops::registry()};
  ValueId x = add("embedding", {input("token_ids"), weight("table", {16, 8})}, {}, "embed");

  ValueId add(const std::string& op, std::vector<ValueId> inputs, Attributes attributes = {},
              std::string name = "", const std::string& scope = "s") {
    if (name.empty()) name = op + std::to_string(++count_);
    auto node = graph.add_node({op, scope, name, std::move(attributes), std::move(inputs), {}, {}});
    if (!node.ok()) throw std::runtime_error(node.error().to_string());
    return graph.node(*node).outputs[0];
  }
  ValueId weight(const std::string& tensor, std::vector<int64_t> shape, const std::string& dtype = "f32") {
    return add("weight", {}, {{"tensor", tensor}, {"dtype", dtype}, {"shape", std::move(shape)}}, tensor);
  }
  ValueId input(const std::string& name) { return add("input", {}, {{"name", name}}, name); }
  ValueId constant(double value, std::vector<int64_t> shape = {1, 8}) {
    return add("constant", {}, {{"value", value}, {"shape", std::move(shape)}});
  }
  ValueId linear(ValueId src, const std::string& name, int64_t rows = 8, bool bias = false,
                 const std::string& scope = "s", int64_t cols = 8) {
    std::vector<ValueId> inputs{src, weight(name + ".weight", {rows, cols})};
    if (bias) inputs.push_back(weight(name + ".bias", {rows}));
    return add("linear", inputs, {}, name, scope);
  }
  ValueId norm(ValueId src, const std::string& name) {
    return add("rms_norm", {src, weight(name + ".weight", {8})}, {{"eps", 1e-5}}, name);
  }

  void ask(ValueId value, const std::string& attribute, const std::string& word) {
    if (!graph.set_attribute(graph.value(value).producer, attribute, word).ok())
      throw std::runtime_error("not set");
  }
  void place(ValueId value, const std::string& device) { ask(value, "device", device); }

  Outcome run(std::vector<ValueId> outputs, Options options = {}) {
    graph.set_outputs(std::move(outputs));
    auto outcome = run_passes(graph, options);
    if (!outcome.ok()) throw std::runtime_error(outcome.error().to_string());
    return std::move(outcome).value();
  }

 private:
  int count_ = 0;
};

std::map<std::string, int> op_counts(const Graph& graph) {
  std::map<std::string, int> counts;
  for (const NodeId id : graph.order())
    if (!graph.node(id).is_source()) ++counts[std::string(graph.node(id).op->name)];
  return counts;
}

const Node& only(const Graph& graph, std::string_view op) {
  const Node* found = nullptr;
  for (const NodeId id : graph.order())
    if (graph.node(id).op->name == op) {
      if (found) throw std::runtime_error("two nodes of " + std::string(op));
      found = &graph.node(id);
    }
  if (!found) throw std::runtime_error("no node of " + std::string(op));
  return *found;
}

double share_sum(const Node& node) {
  double sum = 0;
  for (const auto& origin : node.origins) sum += origin.share;
  return sum;
}

const Record& record(const Outcome& outcome, std::string_view pass) {
  for (const Record& entry : outcome.records)
    if (entry.pass == pass) return entry;
  throw std::runtime_error("no record");
}

TEST(Passes, RunInTheirOrder) {
  std::vector<std::string_view> names;
  for (const Pass& pass : all_passes()) names.push_back(pass.name);
  EXPECT_THAT(names, ElementsAre("fold_constants", "split_weights", "merge_low_rank", "remove_dead_nodes",
                                 "summarise_fastmax", "fuse_residual_norm", "fuse_qkv", "fuse_gate_up",
                                 "fuse_bias_activation", "store_rounded"));
}

TEST(Passes, UntouchedNodesKeepTheirIds) {
  Small small;
  const ValueId out = small.norm(small.x, "n");
  small.weight("unused", {4});
  const Outcome outcome = small.run({out});
  EXPECT_EQ(outcome.graph->outputs(), std::vector{out});
  EXPECT_EQ(outcome.graph->node(small.graph.value(out).producer).path(), "s.n");
  EXPECT_FALSE(outcome.graph->find_path("s.unused").valid());
  EXPECT_TRUE(small.graph.find_path("s.unused").valid());  // the model graph is not changed
  EXPECT_EQ(record(outcome, "remove_dead_nodes").rewrites, 1);
}

TEST(Passes, CanBeSwitchedOffAndKeepSnapshots) {
  Small small;
  const ValueId out = small.add("silu", {small.linear(small.x, "l")});
  Options options;
  options.disabled = {"fuse_bias_activation"};
  options.snapshots = true;
  const Outcome off = small.run({out}, options);
  EXPECT_TRUE(record(off, "fuse_bias_activation").disabled);
  EXPECT_EQ(op_counts(*off.graph)["silu"], 1);
  ASSERT_TRUE(off.records.front().after);
  EXPECT_EQ(off.records.back().after->order(), off.graph->order());
  const Outcome plain = small.run({out}, {{}, false, false});
  EXPECT_TRUE(record(plain, "fuse_qkv").disabled);
  EXPECT_FALSE(record(plain, "remove_dead_nodes").disabled);
  EXPECT_FALSE(plain.records.front().after);
}

TEST(SplitWeights, APartOfAWeightIsAWeight) {
  Small small;
  const ValueId weight = small.weight("w", {8, 8});
  const auto part = [&](int64_t axis, int64_t begin, int64_t count, ValueId of) {
    return small.add("split", {of}, {{"axis", axis}, {"begin", begin}, {"count", count}});
  };
  const ValueId rows = part(0, 2, 4, weight), inner = part(0, 1, 2, rows);
  const ValueId left = part(1, 0, 5, small.x);
  const ValueId columns = part(1, 0, 5, rows);
  const Outcome outcome =
      small.run({small.add("linear", {small.x, inner}), small.add("linear", {left, columns})});
  EXPECT_EQ(record(outcome, "split_weights").rewrites, 3) << "the fourth is of no weight";
  const auto read = [&](size_t output) -> const Node& {
    const Node& linear = outcome.graph->node(outcome.graph->value(outcome.graph->outputs()[output]).producer);
    return outcome.graph->node(outcome.graph->value(linear.inputs[1]).producer);
  };
  const std::vector<int64_t> none, first{3, 2}, second{2, 4}, five{0, 5};
  EXPECT_EQ(read(0).attributes.at("rows"), graph::Attribute(first)) << "rows 3 and 4 of the file's";
  EXPECT_EQ(read(0).attributes.at("columns"), graph::Attribute(none));
  EXPECT_EQ(read(1).attributes.at("rows"), graph::Attribute(second));
  EXPECT_EQ(read(1).attributes.at("columns"), graph::Attribute(five));
  EXPECT_EQ(read(1).attributes.at("shape"), graph::Attribute(std::vector<int64_t>{4, 5}));
}

TEST(ResidualNorm, SumAndNormedAreBothThere) {
  Small small;
  const ValueId sum = small.add("add", {small.x, small.linear(small.x, "o")}, {}, "residual");
  const ValueId normed = small.norm(sum, "n");
  const ValueId out = small.add("add", {sum, normed});
  const Outcome outcome = small.run({out});
  const Node& fused = only(*outcome.graph, "add_rms_norm");
  EXPECT_EQ(fused.path(), "s.add_n");
  EXPECT_EQ(outcome.graph->node(small.graph.value(out).producer).inputs, fused.outputs);
  ASSERT_EQ(fused.origins.size(), 2U);
  EXPECT_EQ(fused.origins[0].node, small.graph.value(sum).producer);
  EXPECT_EQ(fused.origins[1].node, small.graph.value(normed).producer);
  EXPECT_NEAR(share_sum(fused), 1, 1e-12);
  EXPECT_GT(fused.origins[0].share, 0.1);
}

TEST(ResidualNorm, ASumThatIsAnOutputStaysOne) {
  Small small;
  const ValueId sum = small.add("add", {small.x, small.linear(small.x, "o")});
  const ValueId normed = small.norm(sum, "n");
  const Outcome outcome = small.run({normed, sum});
  const Node& fused = only(*outcome.graph, "add_rms_norm");
  EXPECT_THAT(outcome.graph->outputs(), ElementsAre(fused.outputs[1], fused.outputs[0]));
}

TEST(ResidualNorm, LayerNormKeepsItsBias) {
  Small small;
  const ValueId sum = small.add("add", {small.x, small.linear(small.x, "o")});
  const ValueId bias = small.weight("b", {8});
  const ValueId normed = small.add("layer_norm", {sum, small.weight("w", {8}), bias}, {{"eps", 1e-12}}, "n");
  const Outcome outcome = small.run({normed});
  EXPECT_EQ(only(*outcome.graph, "add_layer_norm").inputs[3], bias);
}

TEST(ResidualNorm, ARowThatIsAddedEverywhereIsNoResidual) {
  Small small;
  const ValueId sum = small.add("add", {small.x, small.weight("row", {8})});
  const Outcome outcome = small.run({small.norm(sum, "n")});
  EXPECT_EQ(op_counts(*outcome.graph)["add"], 1);
}

TEST(Qkv, LinearsOfOneSourceAndScopeBecomeOne) {
  Small small;
  const ValueId q = small.linear(small.x, "q", 16, true), k = small.linear(small.x, "k"),
                v = small.linear(small.x, "v", 8, true);
  const Outcome outcome = small.run({q, k, v});
  const Node& fused = only(*outcome.graph, "fused_linear");
  EXPECT_EQ(fused.path(), "s.qkv");
  EXPECT_EQ(outcome.graph->outputs(), fused.outputs);
  EXPECT_EQ(std::get<int64_t>(fused.attributes.at("segments")), 3);
  EXPECT_THAT(std::get<std::vector<int64_t>>(fused.attributes.at("has_bias")), ElementsAre(1, 0, 1));
  std::vector<std::string> names;
  for (size_t i = 1; i < fused.inputs.size(); ++i)
    names.push_back(outcome.graph->node(outcome.graph->value(fused.inputs[i]).producer).name);
  EXPECT_THAT(names, ElementsAre("q.weight", "k.weight", "v.weight", "q.bias", "v.bias"));
  ASSERT_EQ(fused.origins.size(), 3U);
  EXPECT_NEAR(share_sum(fused), 1, 1e-12);
  EXPECT_GT(fused.origins[0].share, 1.5 * fused.origins[1].share);  // twice the rows
}

TEST(Qkv, OnlyThoseOfAnAttentionAreCalledSo) {
  Small small;
  std::vector<ValueId> outputs;
  for (const char* name : {"step_proj", "b_proj", "c_proj"}) outputs.push_back(small.linear(small.x, name));
  EXPECT_EQ(only(*small.run(outputs).graph, "fused_linear").path(), "s.linears");
}

TEST(Qkv, FourAtMost) {
  Small small;
  std::vector<ValueId> outputs;
  for (const char* name : {"a", "b", "c", "d", "e"}) outputs.push_back(small.linear(small.x, name));
  const Outcome outcome = small.run(outputs);
  EXPECT_EQ(only(*outcome.graph, "fused_linear").outputs.size(), 4U);
  EXPECT_EQ(op_counts(*outcome.graph)["linear"], 1);
}

TEST(Qkv, OtherScopesOtherSourcesAndComputedWeightsStay) {
  Small small;
  const ValueId q = small.linear(small.x, "q");
  const ValueId other_scope = small.linear(small.x, "k", 8, false, "t");
  const ValueId other_source = small.linear(q, "v");
  const Outcome outcome = small.run({q, other_scope, other_source});
  EXPECT_EQ(op_counts(*outcome.graph)["linear"], 3);
  EXPECT_EQ(record(outcome, "fuse_qkv").rewrites, 0);
}

struct GatedMlp {
  Small small;
  ValueId gate = small.linear(small.x, "gate", 16), up = small.linear(small.x, "up", 16);
  ValueId act, product, down;
  explicit GatedMlp(const std::string& op = "silu", Attributes attributes = {}, bool swapped = false) {
    act = small.add(op, {gate}, std::move(attributes), "act");
    product = small.add("mul", swapped ? std::vector{up, act} : std::vector{act, up}, {}, "gated");
    down = small.linear(product, "down", 8, false, "s", 16);
  }
};

TEST(GateUp, FusesInBothOrders) {
  for (const bool swapped : {false, true}) {
    GatedMlp mlp("silu", {}, swapped);
    const Outcome outcome = mlp.small.run({mlp.down});
    const Node& fused = only(*outcome.graph, "fused_linear");
    EXPECT_EQ(std::get<std::string>(fused.attributes.at("epilogue")), "silu_mul");
    EXPECT_EQ(fused.path(), "s.gate_up_silu");
    EXPECT_EQ(outcome.graph->node(outcome.graph->value(fused.inputs[1]).producer).name, "gate.weight");
    EXPECT_EQ(fused.outputs.size(), 1U);
    EXPECT_EQ(fused.origins.size(), 4U);
    EXPECT_NEAR(share_sum(fused), 1, 1e-12);
    EXPECT_EQ(op_counts(*outcome.graph),
              (std::map<std::string, int>{{"embedding", 1}, {"fused_linear", 1}, {"linear", 1}}));
  }
}

TEST(GateUp, GeluOnlyInItsTanhForm) {
  GatedMlp tanh_form("gelu", {{"approximation", std::string("tanh")}});
  EXPECT_EQ(std::get<std::string>(
                only(*tanh_form.small.run({tanh_form.down}).graph, "fused_linear").attributes.at("epilogue")),
            "gelu_tanh_mul");
  GatedMlp exact("gelu");
  EXPECT_EQ(op_counts(*exact.small.run({exact.down}).graph)["mul"], 1);
}

TEST(GateUp, ValuesThatOthersReadStay) {
  for (int which = 0; which < 6; ++which) {
    GatedMlp mlp;
    const ValueId seen = which % 3 == 0 ? mlp.gate : which % 3 == 1 ? mlp.up : mlp.act;
    // Either an output of the graph, or read by a node.
    const ValueId extra = which < 3 ? seen : mlp.small.add("relu", {seen});
    const Outcome outcome = mlp.small.run({mlp.down, extra});
    EXPECT_EQ(op_counts(*outcome.graph)["mul"], 1) << which;
    EXPECT_TRUE(verify(*outcome.graph).empty());
  }
}

TEST(BiasActivation, EveryActivationHasItsEpilogue) {
  const std::pair<std::string, std::string> cases[] = {
      {"gelu", "gelu_erf"}, {"silu", "silu"}, {"relu", "relu"}, {"tanh", "tanh"}};
  for (const auto& [op, epilogue] : cases) {
    Small small;
    const ValueId linear = small.linear(small.x, "l", 8, true);
    const Outcome outcome = small.run({small.add(op, {linear}, {}, "act")});
    const Node& fused = only(*outcome.graph, "linear");
    EXPECT_EQ(std::get<std::string>(fused.attributes.at("epilogue")), epilogue);
    EXPECT_EQ(fused.inputs, small.graph.node(small.graph.value(linear).producer).inputs);
    EXPECT_EQ(fused.path(), "s.l_" + op);
    EXPECT_EQ(fused.origins.size(), 2U);
  }
}

TEST(BiasActivation, ALinearThatOthersReadStays) {
  Small small;
  const ValueId linear = small.linear(small.x, "l");
  const ValueId active = small.add("silu", {linear});
  EXPECT_EQ(op_counts(*small.run({active, linear}).graph)["silu"], 1);
}

TEST(BiasActivation, OneEpilogueOnly) {
  Small small;
  const ValueId twice = small.add("tanh", {small.add("relu", {small.linear(small.x, "l")})});
  const Outcome outcome = small.run({twice});
  EXPECT_EQ(std::get<std::string>(only(*outcome.graph, "linear").attributes.at("epilogue")), "relu");
  EXPECT_EQ(op_counts(*outcome.graph)["tanh"], 1);
}

TEST(FoldConstants, ComputesAndDrops) {
  Small small;
  const ValueId six = small.add("mul", {small.constant(2), small.constant(3)});
  const ValueId seven = small.add("add", {six, small.constant(1)});
  const ValueId scaled = small.add("scale", {seven}, {{"factor", 0.5}});
  const ValueId same = small.add("scale", {small.x}, {{"factor", 1.0}});
  const ValueId twice =
      small.add("scale", {small.add("scale", {same}, {{"factor", 2.0}})}, {{"factor", 4.0}});
  const ValueId neutral = small.add("mul", {twice, small.constant(1)});
  const Outcome outcome = small.run({neutral, scaled});
  const Node& joined = only(*outcome.graph, "scale");
  EXPECT_EQ(std::get<double>(joined.attributes.at("factor")), 8.0);
  EXPECT_EQ(joined.inputs[0], small.x);
  EXPECT_EQ(outcome.graph->outputs()[0], joined.outputs[0]);
  const Node& folded = only(*outcome.graph, "constant");
  EXPECT_EQ(std::get<double>(folded.attributes.at("value")), 3.5);
  EXPECT_EQ(outcome.graph->outputs()[1], folded.outputs[0]);
}

TEST(FoldConstants, TensorsAreComputedByTheirOwnOps) {
  Small small;
  const auto tensor = [&](std::vector<double> data, std::vector<int64_t> shape, const std::string& dtype) {
    return small.add("constant", {},
                     {{"data", std::move(data)}, {"shape", std::move(shape)}, {"dtype", dtype}});
  };
  const ValueId a = tensor({1, 2, 3, 4, 5, 6}, {2, 3}, "i32"), b = tensor({10, 20}, {2, 1}, "i32");
  const ValueId turned = small.add("transpose", {small.add("sub", {b, a})});  // ((9, 8, 7), (16, 15, 14))
  const ValueId mask = small.add("greater", {turned, tensor({9}, {}, "i32")});
  const ValueId seen = small.add("reshape", {mask}, {{"shape", std::vector<int64_t>{-1}}});
  const ValueId same = small.add("cast", {small.x}, {{"dtype", std::string("f32")}});
  const Outcome outcome = small.run({turned, seen, same});
  const auto folded = [&](size_t output) -> const Node& {
    return outcome.graph->node(outcome.graph->value(outcome.graph->outputs()[output]).producer);
  };
  EXPECT_EQ(op_counts(*outcome.graph).size(), 1U) << "the embedding is left";
  EXPECT_EQ(outcome.graph->value(outcome.graph->outputs()[0]).type, (graph::ValueType{DType::i32, {3, 2}}));
  EXPECT_THAT(std::get<std::vector<double>>(folded(0).attributes.at("data")),
              ElementsAre(9, 16, 8, 15, 7, 14));
  EXPECT_EQ(outcome.graph->value(outcome.graph->outputs()[1]).type, (graph::ValueType{DType::boolean, {6}}));
  EXPECT_THAT(std::get<std::vector<double>>(folded(1).attributes.at("data")), ElementsAre(0, 1, 0, 1, 0, 1));
  EXPECT_EQ(outcome.graph->outputs()[2], small.x) << "a cast to its own type";
}

TEST(FoldConstants, LargeTensorsAndNumbersThatAreNoneStay) {
  Small small;
  const ValueId large = small.add("cast", {small.constant(1.5, {400, 400})}, {{"dtype", std::string("f16")}});
  const ValueId zero = small.constant(0, {2});
  const ValueId infinite = small.add("div", {small.constant(1, {2}), zero});
  const auto counts = op_counts(*small.run({large, infinite}).graph);
  EXPECT_EQ(counts.at("cast"), 1);
  EXPECT_EQ(counts.at("div"), 1);
}

TEST(FoldConstants, AValueThatOthersReadStays) {
  Small small;
  const ValueId inner = small.add("scale", {small.x}, {{"factor", 2.0}});
  const ValueId outer = small.add("scale", {inner}, {{"factor", 4.0}});
  EXPECT_EQ(op_counts(*small.run({outer, inner}).graph)["scale"], 2);
}

/// What each fusion joins.
struct Joined {
  Small small;
  std::vector<ValueId> parts, outputs;
};
Joined residual_norm() {
  Joined it;
  it.parts = {it.small.add("add", {it.small.x, it.small.linear(it.small.x, "o")})};
  it.parts.push_back(it.small.norm(it.parts[0], "n"));
  it.outputs = {it.parts[1]};
  return it;
}
Joined qkv() {
  Joined it;
  it.parts = {it.small.linear(it.small.x, "q"), it.small.linear(it.small.x, "k")};
  it.outputs = it.parts;
  return it;
}
Joined gate_up() {
  GatedMlp mlp;
  return {mlp.small, {mlp.gate, mlp.up, mlp.act, mlp.product}, {mlp.down}};
}
Joined bias_activation() {
  Joined it;
  it.parts = {it.small.linear(it.small.x, "l")};
  it.parts.push_back(it.small.add("silu", {it.parts[0]}));
  it.outputs = {it.parts[1]};
  return it;
}
Joined scales() {
  Joined it;
  it.parts = {it.small.add("scale", {it.small.x}, {{"factor", 2.0}})};
  it.parts.push_back(it.small.add("scale", {it.parts[0]}, {{"factor", 4.0}}));
  it.outputs = {it.parts[1]};
  return it;
}

/// Only nodes that are asked alike are joined, and what they become is asked the same.
void expect_asked_alike(const std::string& attribute, const std::string& word,
                        std::string_view (*asked)(const Node&)) {
  SCOPED_TRACE(attribute);
  for (const auto& make : {residual_norm, qkv, gate_up, bias_activation, scales}) {
    Joined together = make();
    for (const ValueId part : together.parts) together.small.ask(part, attribute, word);
    const Outcome joined = together.small.run(together.outputs);
    int found = 0;
    for (const NodeId id : joined.graph->order()) {
      const Node& node = joined.graph->node(id);
      if (asked(node) != word) continue;
      EXPECT_EQ(node.origins.size(), together.parts.size());
      ++found;
    }
    EXPECT_EQ(found, 1);

    for (size_t apart = 0; apart < together.parts.size(); ++apart) {
      Joined torn = make();
      torn.small.ask(torn.parts[apart], attribute, word);
      const Outcome outcome = torn.small.run(torn.outputs);
      const Node* node = outcome.graph->find(torn.small.graph.value(torn.parts[apart]).producer);
      ASSERT_NE(node, nullptr) << "the node that is asked otherwise stays by itself";
      EXPECT_EQ(asked(*node), word);
    }
  }
}

TEST(Passes, OnlyNodesOfOneDeviceAreJoinedAndKeepIt) {
  expect_asked_alike("device", "cuda:0", graph::device_of);
}

TEST(Passes, OnlyNodesOfOnePrecisionAreJoinedAndKeepIt) {
  expect_asked_alike("precision", "int8", graph::precision_of);
}

TEST(Qkv, ALinearWhoseActivationRunsElsewhereIsNotLeftToIt) {
  Small small;
  const ValueId gate = small.linear(small.x, "gate"), other = small.linear(small.x, "other");
  const ValueId active = small.add("silu", {gate});
  small.place(active, "cuda:0");
  EXPECT_EQ(op_counts(*small.run({active, other}).graph)["fused_linear"], 1);
}

std::filesystem::path models_folder() {
  if (const char* folder = std::getenv("ORRERY_MODELS")) return folder;
  if (const char* cache = std::getenv("XDG_CACHE_HOME"))
    return std::filesystem::path(cache) / "orrery/models";
  return std::filesystem::path(std::getenv("HOME")) / ".cache/orrery/models";
}

Outcome fused_model(const char* name, const char* adapter = nullptr) {
  auto file = io::open_model(models_folder() / name, {}, {});
  if (!file.ok()) throw std::runtime_error(file.error().to_string());
  std::shared_ptr<const io::Adapter> opened;
  if (adapter) opened = *io::open_adapter(std::filesystem::path(ORRERY_SOURCE_DIR) / adapter);
  auto built = models::build(**file, opened.get());
  if (!built.ok()) throw std::runtime_error(built.error().to_string());
  auto outcome = run_passes(built->graph, {});
  if (!outcome.ok()) throw std::runtime_error(outcome.error().to_string());
  return std::move(outcome).value();
}

/// Every fused node's shares sum to one, and no origin is counted twice.
void expect_sound_origins(const Graph& graph) {
  std::map<NodeId, int> seen;
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (!node.origins.empty()) {
      EXPECT_NEAR(share_sum(node), 1, 1e-9) << node.path();
    }
    for (const auto& origin : node.origins) EXPECT_EQ(++seen[origin.node], 1) << node.path();
  }
}

TEST(RealModels, SmolLM2) {
  const Outcome outcome = fused_model("smollm2");
  EXPECT_EQ(record(outcome, "fuse_residual_norm").rewrites, 59);  // all but the first and the last norm
  EXPECT_EQ(record(outcome, "fuse_qkv").rewrites, 30);
  EXPECT_EQ(record(outcome, "fuse_gate_up").rewrites, 30);
  EXPECT_EQ(op_counts(*outcome.graph), (std::map<std::string, int>{{"embedding", 1},
                                                                   {"rms_norm", 2},
                                                                   {"fused_linear", 60},
                                                                   {"rope", 60},
                                                                   {"kv_append", 30},
                                                                   {"attention", 30},
                                                                   {"linear", 61},
                                                                   {"add_rms_norm", 59},
                                                                   {"add", 1},
                                                                   {"select_rows", 1},
                                                                   {"sample", 1}}));
  expect_sound_origins(*outcome.graph);
  EXPECT_EQ(outcome.graph->node(outcome.graph->find_path("layers.3.attention.qkv")).origins.size(), 3U);
  EXPECT_TRUE(outcome.graph->find_path("layers.3.mlp.add_norm").valid());
  EXPECT_TRUE(outcome.graph->find_path("layers.4.attention.add_norm").valid());  // the residual of layer 3
}

TEST(RealModels, MiniLMWithItsClassifier) {
  const Outcome outcome = fused_model("minilm", "resources/models/sentiment");
  EXPECT_EQ(record(outcome, "fuse_residual_norm").rewrites, 13);  // two per layer, the embedding's
  EXPECT_EQ(record(outcome, "fuse_qkv").rewrites, 6);
  EXPECT_EQ(record(outcome, "fuse_bias_activation").rewrites, 7);  // six gelus, the pooler's tanh
  EXPECT_EQ(op_counts(*outcome.graph)["gelu"] + op_counts(*outcome.graph)["tanh"], 0);
  expect_sound_origins(*outcome.graph);
}

}  // namespace
}  // namespace orrery::passes
