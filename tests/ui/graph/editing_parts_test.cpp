// What editing by hand is made of, without a window: ports, ways of wires, what fits where, drafts, copies.
#include <gtest/gtest.h>

#include <QMimeData>
#include <algorithm>
#include <cmath>

#include "tests/ui/graph/sample_graphs.h"
#include "ui/graph/drafts.h"
#include "ui/graph/graph_diff.h"
#include "ui/graph/node_clip.h"
#include "ui/graph/op_fit.h"
#include "ui/graph/ports.h"
#include "ui/graph/wire_route.h"
#include "ui/graph/wires.h"

namespace orrery::ui {
namespace {

using samples::kSmol;
using samples::kStep;

/// The model with its first layer open.
class SmolDrawing : public testing::Test {
 protected:
  void SetUp() override {
    auto built = samples::modelGraph(kSmol, false);
    ASSERT_TRUE(built.ok()) << built.error().to_string();
    graph = *built;
    drawing.scene = makeScene(graph, kStep, {});
    drawing.layout = Hierarchy().layout(*drawing.scene, {"layers.0", "layers.0.attention", "layers.0.mlp"});
  }
  NodeId node(const char* path) const { return graph->find_path(path); }
  Hit thing(const char* path) const {
    const SceneNode* found = drawing.scene->find(node(path));
    return found ? describeAt(drawing, found->position, -1)
                 : describeAt(drawing, -1, drawing.scene->group(path));
  }
  std::vector<Port> ports(const char* path) const { return portsOf(drawing, thing(path)); }
  static const Port& named(const std::vector<Port>& ports, const std::string& name) {
    const auto found =
        std::find_if(ports.begin(), ports.end(), [&](const Port& port) { return port.name == name; });
    EXPECT_NE(found, ports.end()) << name;
    return found == ports.end() ? ports.front() : *found;
  }
  std::string value(const char* path) const {
    return graph->value_path(graph->node(node(path)).outputs.front());
  }
  graph::OpPtr op(const char* name) const { return graph->ops().find(name); }

  graph::GraphVersion graph;
  Drawing drawing;
};

TEST_F(SmolDrawing, PortsStandWhereWiresEnd) {
  const std::vector<Port> mul = ports("layers.0.mlp.gate");
  const Hit box = thing("layers.0.mlp.gate");
  ASSERT_EQ(mul.size(), 3U);
  EXPECT_TRUE(mul[0].gives());
  EXPECT_EQ(mul[0].at.y, box.box.bottom());
  const Port &a = named(mul, "a"), &b = named(mul, "b");
  EXPECT_EQ(a.at.y, box.box.y);
  EXPECT_GT(std::abs(a.at.x - b.at.x), 8) << "two heads that can be told apart";
  ASSERT_EQ(b.uses.size(), 1U);
  EXPECT_EQ(b.uses.front().node, node("layers.0.mlp.gate"));
  EXPECT_EQ(b.uses.front().input, b.place);
  const LaidOut holder = laidOut(drawing, box.holder);
  int ends = 0;
  for (const PlacedWire& wire : holder.layout->wires)
    if (wire.to == box.item)
      for (const Port& port : {a, b})
        ends += std::hypot(wire.points.back().x + holder.origin.x - port.at.x,
                           wire.points.back().y + holder.origin.y - port.at.y) < 0.01;
  EXPECT_EQ(ends, 2);
}

TEST_F(SmolDrawing, AWeightsPortIsAtItsPill) {
  const std::vector<Port> gate = ports("layers.0.mlp.down_proj");
  const Port& weight = named(gate, "weight");
  EXPECT_EQ(weight.side, Port::Side::left);
  EXPECT_EQ(weight.at.x, thing("layers.0.mlp.down_proj").box.x);
  const auto pill = std::find_if(gate.begin(), gate.end(),
                                 [](const Port& port) { return port.kind == Port::Kind::source; });
  ASSERT_NE(pill, gate.end());
  EXPECT_EQ(pill->value, weight.value);
  EXPECT_TRUE(pill->gives());
  const Port& bias = named(gate, "bias");
  EXPECT_TRUE(bias.open());
  EXPECT_TRUE(bias.optional);
}

TEST_F(SmolDrawing, AFoldedGroupHasThePortsOfItsStream) {
  const std::vector<Port> stack = ports("layers.1");
  const auto gives = std::count_if(stack.begin(), stack.end(), [](const Port& port) { return port.gives(); });
  EXPECT_EQ(gives, 1);
  const auto reads = std::find_if(stack.begin(), stack.end(), [](const Port& port) { return !port.gives(); });
  ASSERT_NE(reads, stack.end());
  EXPECT_EQ(reads->uses.size(), 2U) << "the norm and the residual of the first layer in it";
}

TEST_F(SmolDrawing, TheNearestPortWithinReachIsTaken) {
  const std::vector<Port> mul = ports("layers.0.mlp.gate");
  const Port& a = named(mul, "a");
  const Port* found = nearest(mul, {a.at.x + 2, a.at.y - 5}, 12);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->sameAs(a));
  EXPECT_FALSE(nearest(mul, {a.at.x, a.at.y - 60}, 12));
}

bool isOrthogonal(const std::vector<Point>& points) {
  for (size_t i = 1; i < points.size(); ++i)
    if (std::abs(points[i].x - points[i - 1].x) > 1e-6 && std::abs(points[i].y - points[i - 1].y) > 1e-6)
      return false;
  return true;
}

TEST(WireRoute, GoesAlongTheAxesAndRoundBoxes) {
  const Rect between{-40, 40, 80, 34};
  const std::vector<Point> points =
      routeWire({{0, 0}, WireEnd::Way::down}, {{0, 120}, WireEnd::Way::up}, {between});
  EXPECT_TRUE(isOrthogonal(points));
  ASSERT_GE(points.size(), 4U);
  for (size_t i = 1; i < points.size(); ++i) {
    const Rect way{std::min(points[i].x, points[i - 1].x), std::min(points[i].y, points[i - 1].y),
                   std::abs(points[i].x - points[i - 1].x) + 0.1,
                   std::abs(points[i].y - points[i - 1].y) + 0.1};
    EXPECT_FALSE(way.intersects(between));
  }
  EXPECT_EQ(routeWire({{0, 0}, WireEnd::Way::down}, {{0, 120}, WireEnd::Way::up}, {}).size(), 2U)
      << "straight where it can";
  const std::vector<Point> up = routeWire({{0, 100}, WireEnd::Way::down}, {{60, 0}, WireEnd::Way::up}, {});
  EXPECT_TRUE(isOrthogonal(up));
  EXPECT_GT(up[1].y, 100) << "out of the foot first";
  EXPECT_LT(up[up.size() - 2].y, 0) << "into the top from above";
}

TEST_F(SmolDrawing, WhatFitsAValueIsToldByTheOps) {
  const OpFitter fitter(graph);
  const graph::ValueType stream =
      graph->value(graph->node(node("layers.0.attention.o_proj")).outputs.front()).type;
  const OpFit norm = fitter.reading(*op("rms_norm"), stream);
  EXPECT_TRUE(norm.fits);
  EXPECT_TRUE(norm.attributes.contains("eps")) << "as the model's own norms have it";
  EXPECT_FALSE(norm.complete) << "it needs a weight";
  EXPECT_TRUE(fitter.reading(*op("silu"), stream).complete);
  EXPECT_TRUE(fitter.reading(*op("add"), stream).fits);
  const OpFit rope =
      fitter.reading(*op("rope"), graph->value(graph->node(node("layers.0.mlp.gate")).outputs.front()).type);
  EXPECT_FALSE(rope.fits);
  EXPECT_NE(rope.refusal.find("1536"), std::string::npos) << rope.refusal;
  EXPECT_NE(rope.refusal.find("576"), std::string::npos) << rope.refusal;
  const OpFit turned = fitter.reading(*op("rope"), stream);
  EXPECT_TRUE(turned.fits) << turned.refusal;
  EXPECT_EQ(turned.given.count("positions"), 1U) << "an input of the step, read by its name";
  EXPECT_EQ(fitter.alone(*op("scale")).missing, std::vector<std::string>{"factor"});
}

TEST_F(SmolDrawing, BetweenTwoTheShapesMustGoThrough) {
  const OpFitter fitter(graph);
  const NodeId mul = node("layers.0.mlp.gate");
  const graph::Use reader{mul, 0};
  const graph::ValueType gate = graph->value(graph->node(mul).inputs.front()).type;
  EXPECT_TRUE(fitter.between(*op("silu"), gate, reader).fits);
  const OpFit turned = fitter.between(*op("transpose"), gate, reader);
  EXPECT_FALSE(turned.fits) << "mul does not take rows for columns";
  EXPECT_NE(turned.refusal.find("1536"), std::string::npos) << turned.refusal;
}

class DraftTest : public SmolDrawing {
 protected:
  int add(const char* name, const char* scope = "layers.0.mlp") {
    Draft draft;
    draft.op = op(name);
    draft.scope = scope;
    draft.name = name;
    return drafts.add(*graph, std::move(draft));
  }
  EditRequest request(int id) { return drafts.request(*graph, *drafts.find(id)); }

  Drafts drafts;
};

TEST_F(DraftTest, WaitsForWhatIsMissingAndThenIsAnEdit) {
  const int id = add("add");
  EXPECT_EQ(drafts.find(id)->path(), "layers.0.mlp.add");
  EXPECT_EQ(drafts.missing(*graph, *drafts.find(id)), (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(request(id).empty());
  drafts.find(id)->inputs[0] = value("layers.0.mlp.gate_proj");
  EXPECT_TRUE(request(id).empty());
  drafts.find(id)->inputs[1] = value("layers.0.mlp.up_proj");
  drafts.find(id)->readers.push_back({"layers.0.mlp.gate.b", 0});
  const EditRequest made = request(id);
  ASSERT_EQ(made.edits.size(), 2U);
  EXPECT_EQ(made.edits[0].op, "insert");
  EXPECT_EQ(made.edits[0].fields.at("as"), "layers.0.mlp.add");
  EXPECT_EQ(made.edits[0].fields.at("inputs"),
            R"({"a":"layers.0.mlp.gate_proj:dst","b":"layers.0.mlp.up_proj:dst"})");
  EXPECT_EQ(made.edits[1].to_string(), "connect input=layers.0.mlp.gate.b value=layers.0.mlp.add:dst");
}

TEST_F(DraftTest, NamesAreFree) {
  add("silu");
  const int second = add("silu");
  EXPECT_FALSE(graph->find_path(drafts.find(second)->path()).valid());
  EXPECT_NE(drafts.all()[0].path(), drafts.all()[1].path());
}

TEST_F(DraftTest, RefusesShapesAndLoops) {
  const int id = add("add");
  drafts.find(id)->inputs[0] = value("layers.0.mlp.gate_proj");
  const auto wrong = drafts.canConnect(*graph, *drafts.find(id), 1, value("layers.0.mlp.down_proj"));
  ASSERT_FALSE(wrong.ok());
  EXPECT_NE(wrong.error().what.find("1536"), std::string::npos) << wrong.error().what;
  EXPECT_TRUE(drafts.canConnect(*graph, *drafts.find(id), 1, value("layers.0.mlp.up_proj")).ok());
  const int other = add("silu");
  drafts.find(other)->inputs[0] = drafts.find(id)->output(0);
  EXPECT_FALSE(drafts.canConnect(*graph, *drafts.find(id), 1, drafts.find(other)->output(0)).ok())
      << "a loop";
}

TEST_F(DraftTest, OneThatReadsAnotherMakesBothInOrder) {
  const int first = add("silu"), second = add("relu");
  drafts.find(second)->inputs[0] = drafts.find(first)->output(0);
  EXPECT_TRUE(request(second).empty()) << "the first one reads nothing yet";
  drafts.find(first)->inputs[0] = value("layers.0.mlp.gate_proj");
  const EditRequest made = request(second);
  ASSERT_EQ(made.edits.size(), 2U);
  EXPECT_EQ(made.edits[0].fields.at("op"), "silu");
  EXPECT_EQ(made.edits[1].fields.at("op"), "relu");
  drafts.remove(first);
  EXPECT_TRUE(drafts.find(second)->inputs[0].empty());
}

TEST_F(SmolDrawing, CopiesOutliveTheirGraph) {
  const NodeClip clip = NodeClip::of(*graph, {"layers.0.mlp.gate_proj", "layers.0.mlp.act"});
  const std::unique_ptr<QMimeData> mime = clip.mime();
  const auto read = NodeClip::from(mime.get());
  ASSERT_TRUE(read);
  ASSERT_EQ(read->size(), clip.size());
  const EditRequest here = read->withInputs(*graph, "");
  ASSERT_EQ(here.edits.size(), 1U);
  EXPECT_EQ(here.edits[0].op, "duplicate") << "the originals are there";
  const std::vector<Draft> open = read->drafts(*graph, "layers.3");
  ASSERT_EQ(open.size(), clip.size());
  EXPECT_TRUE(open[0].inputs[0].empty()) << "what it read is open";
  EXPECT_FALSE(open[0].inputs[1].empty()) << "its weight is not";
  EXPECT_TRUE(open[1].inputs[0].starts_with(open[0].path() + ":")) << "links among the copies stay";
  QMimeData other;
  other.setText("layers.0");
  EXPECT_FALSE(NodeClip::from(&other));
}

/// As an edit that deletes a node with one input and reconnects its readers.
graph::GraphVersion without(const graph::Graph& graph, NodeId id) {
  auto edited = std::make_shared<graph::Graph>(graph);
  const graph::Node node = edited->node(id);
  for (const graph::Use& use : edited->users(node.outputs.front()))
    EXPECT_TRUE(edited->set_input(use.node, use.input, node.inputs.front()).ok());
  EXPECT_TRUE(edited->remove_node(id).ok());
  return edited;
}

TEST_F(SmolDrawing, ADiffTellsNodesAndWires) {
  const NodeId silu = node("layers.0.mlp.act"), mul = node("layers.0.mlp.gate");
  const DiffPtr diff = diffOf(graph, without(*graph, silu), Kin::version);
  EXPECT_EQ(diff->removed, std::unordered_set<NodeId>{silu});
  EXPECT_TRUE(diff->added.empty());
  EXPECT_TRUE(diff->shown->find(silu)) << "it is drawn where it was";
  EXPECT_EQ(diff->changeOf({mul, 0}), WireChange::changed);
  EXPECT_EQ(diff->changeOf({mul, 1}), WireChange::none);
  EXPECT_EQ(diff->changeOf({silu, 0}), WireChange::removed);
  Drawing shown;
  shown.scene = makeScene(diff->shown, kStep, {});
  shown.layout = Hierarchy().layout(*shown.scene, {"layers.0", "layers.0.mlp"});
  int changed = 0, removed = 0;
  for (const auto& [wire, change] : wireChanges(shown, *diff)) {
    changed += change == WireChange::changed;
    removed += change == WireChange::removed;
  }
  EXPECT_EQ(changed, 1);
  EXPECT_EQ(removed, 2) << "into it and out of it";
}

TEST_F(SmolDrawing, ADiffWithAnotherModelGoesByPathsAlone) {
  const NodeId silu = node("layers.0.mlp.act"), mul = node("layers.0.mlp.gate");
  const graph::GraphVersion other = without(*graph, silu);
  const DiffPtr more = diffOf(other, graph, Kin::model);
  EXPECT_EQ(more->added, std::unordered_set<NodeId>{silu});
  EXPECT_EQ(differentNodes(*more), (std::unordered_set<NodeId>{silu, mul}));
  EXPECT_EQ(more->changeOf({mul, 0}), WireChange::changed);
  const DiffPtr less = diffOf(graph, other, Kin::model);
  EXPECT_EQ(less->shown, other) << "what the other one alone has is not drawn";
  EXPECT_EQ(differentNodes(*less), std::unordered_set<NodeId>{mul});
  auto renamed = std::make_shared<graph::Graph>(*graph);
  ASSERT_TRUE(renamed->rename_node(mul, "layers.0.mlp", "product").ok());
  EXPECT_TRUE(diffOf(graph, renamed, Kin::version)->added.empty());
  EXPECT_EQ(diffOf(graph, renamed, Kin::model)->added, std::unordered_set<NodeId>{mul})
      << "an id of another model is no name";
}

}  // namespace
}  // namespace orrery::ui
