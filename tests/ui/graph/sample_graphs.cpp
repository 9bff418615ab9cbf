#include "tests/ui/graph/sample_graphs.h"

#include <cstdlib>
#include <random>

#include "engine/io/model_file.h"
#include "engine/models/builder.h"
#include "engine/passes/passes.h"
#include "tests/support/made_profile.h"

namespace orrery::ui::samples {
namespace {

using graph::NodeView;
using graph::ValueType;

Result<std::vector<ValueType>> like(const NodeView& view) {
  return std::vector<ValueType>{view.inputs.empty() ? ValueType{DType::f32, {kTokens, Dim(576)}}
                                                    : *view.inputs[0]};
}
graph::Cost noCost(const NodeView&, const Bindings&) { return {1, 4096}; }

std::shared_ptr<const graph::OpRegistry> ops() {
  using graph::OpFamily;
  return std::make_shared<const graph::OpRegistry>(std::vector<graph::OpSchema>{
      {"input",
       OpFamily::source,
       "",
       {},
       {"dst"},
       {{"name", "", graph::Attribute(std::string())}},
       like,
       noCost},
      {"norm", OpFamily::norm, "", {{"src"}}, {"dst"}, {}, like, noCost},
      {"linear", OpFamily::linear, "", {{"src"}}, {"dst"}, {}, like, noCost},
      {"add", OpFamily::elementwise, "", {{"src", false, true}}, {"dst"}, {}, like, noCost}});
}

/// Adds a node; a refusal would be a bug of this file.
class Maker {
 public:
  Maker() : graph_(ops()) {}

  ValueId add(const std::string& op, const std::string& scope, const std::string& name,
              std::vector<ValueId> inputs) {
    graph::Graph::NewNode node;
    node.op = op;
    node.scope = scope;
    node.name = name;
    node.inputs = std::move(inputs);
    if (op == "input") node.attributes["name"] = name;
    const Result<NodeId> id = graph_.add_node(std::move(node));
    if (!id) std::abort();
    return graph_.node(*id).outputs.front();
  }
  graph::GraphVersion finish(ValueId output) {
    graph_.set_outputs({output});
    return std::make_shared<const graph::Graph>(std::move(graph_));
  }

 private:
  graph::Graph graph_;
};

}  // namespace

std::string modelPath(const std::string& name) {
  const char* folder = std::getenv("ORRERY_MODELS");
  if (folder && *folder) return std::string(folder) + "/" + name;
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  return (cache && *cache ? std::string(cache) : std::string(home ? home : "") + "/.cache") +
         "/orrery/models/" + name;
}

Result<graph::GraphVersion> modelGraph(const std::string& name, bool fused) {
  ORRERY_ASSIGN(const auto file, io::open_model(modelPath(name), {}, {}));
  ORRERY_ASSIGN(models::BuiltModel model, models::build(*file, nullptr));
  if (!fused) return graph::GraphVersion(std::make_shared<const graph::Graph>(std::move(model.graph)));
  ORRERY_ASSIGN(passes::Outcome outcome, passes::run_passes(model.graph, {}));
  return outcome.graph;
}

graph::GraphVersion flatGraph(int count) {
  Maker maker;
  std::mt19937 random(7);
  std::vector<ValueId> values{maker.add("input", "", "x", {})};
  for (int i = 0; i < count; ++i) {
    const size_t recent = std::min<size_t>(values.size(), 6);
    const ValueId last = values[values.size() - 1 - random() % recent];
    const std::string name = "node_" + std::to_string(i);
    if (i % 5 == 4)
      values.push_back(
          maker.add("add", "", name,
                    {last, values[values.size() - 1 - random() % std::min<size_t>(values.size(), 40)]}));
    else
      values.push_back(maker.add(i % 3 == 0 ? "norm" : "linear", "", name, {last}));
  }
  return maker.finish(values.back());
}

graph::GraphVersion layeredGraph(int layers, int bypassed) {
  Maker maker;
  ValueId h = maker.add("input", "", "x", {});
  h = maker.add("linear", "embed", "embedding", {h});
  for (int layer = 0; layer < layers; ++layer) {
    const std::string scope = "layers." + std::to_string(layer);
    const ValueId normed = maker.add("norm", scope, "norm", {h});
    const ValueId up = maker.add("linear", scope + ".mlp", "up_proj", {normed});
    const ValueId down = maker.add("linear", scope + ".mlp", "down_proj", {up});
    const ValueId sum = maker.add("add", scope, "residual", {h, down});
    if (layer != bypassed) h = sum;
  }
  return maker.finish(maker.add("linear", "output", "lm_head", {h}));
}

namespace {

/// What a layer adds to `h`: a chain of ops with a fork in it, in a group of its own.
ValueId addHalf(Maker& maker, const std::string& scope, ValueId h, int ops, bool odd, ValueId other = {}) {
  const ValueId normed = maker.add("norm", scope, "norm", {h});
  const ValueId a = maker.add("linear", scope, "a_proj", {normed}),
                b = maker.add("linear", scope, "b_proj", {normed});
  ValueId x = maker.add("add", scope, "mix",
                        other.valid() ? std::vector<ValueId>{a, b, other} : std::vector<ValueId>{a, b});
  for (int op = 5; op + 2 < ops; ++op)
    x = maker.add(odd && op == 6 ? "norm" : "linear", scope, "op_" + std::to_string(op), {x});
  const ValueId down = maker.add("linear", scope, "down_proj", {x});
  return maker.add("add", scope, "residual", {h, down});
}

}  // namespace

graph::GraphVersion decoderGraph(int layers, int odd) {
  Maker maker;
  ValueId h = maker.add("linear", "embed", "embedding", {maker.add("input", "", "x", {})});
  for (int layer = 0; layer < layers; ++layer) {
    const std::string scope = "layers." + std::to_string(layer);
    h = addHalf(maker, scope + ".attention", h, 14, false);
    h = addHalf(maker, scope + ".mlp", h, 14, layer == odd);
  }
  return maker.finish(maker.add("linear", "output", "lm_head", {maker.add("norm", "output", "norm", {h})}));
}

graph::GraphVersion encoderDecoderGraph(int layers) {
  Maker maker;
  const ValueId x = maker.add("input", "", "x", {});
  ValueId h = maker.add("linear", "encoder", "embedding", {x});
  for (int layer = 0; layer < layers; ++layer)
    h = addHalf(maker, "encoder.layers." + std::to_string(layer) + ".mlp", h, 8, false);
  const ValueId memory = maker.add("norm", "encoder", "norm", {h});
  h = maker.add("linear", "decoder", "embedding", {x});
  for (int layer = 0; layer < layers; ++layer) {
    const std::string scope = "decoder.layers." + std::to_string(layer);
    h = addHalf(maker, scope + ".cross", h, 8, false, memory);
    h = addHalf(maker, scope + ".mlp", h, 8, false);
  }
  return maker.finish(maker.add("linear", "decoder", "lm_head", {h}));
}

Figures plausibleFigures(const graph::Graph& graph, const Bindings& bindings, bool estimated) {
  api::testing::MadeProfile made;
  Figures figures;
  for (const NodeId id : graph.order()) {
    const graph::Node& node = graph.node(id);
    if (node.is_source()) continue;
    const graph::Cost cost = graph.cost(id, bindings);
    const bool linear = node.op->family == graph::OpFamily::linear;
    made.add(id, 0.8 + cost.bytes / 22e3, {id, cost.bytes, cost.flops, estimated && linear});
    figures.kernels[id] = linear ? "cpu.avx512_vnni.matvec" : "cpu.avx512.flash";
  }
  figures.profile = made.make();
  return figures;
}

}  // namespace orrery::ui::samples
