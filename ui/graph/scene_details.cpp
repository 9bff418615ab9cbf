#include "ui/graph/scene_details.h"

#include <algorithm>
#include <string_view>

namespace orrery::ui {
namespace {

/// FNV-1a over what makes groups alike.
class Hash {
 public:
  void add(std::string_view text) {
    for (const char c : text) byte(static_cast<unsigned char>(c));
    byte(0);
  }
  void add(uint64_t number) {
    for (int shift = 0; shift < 64; shift += 8) byte(static_cast<unsigned char>(number >> shift));
  }
  uint64_t value() const { return value_; }

 private:
  void byte(unsigned char c) { value_ = (value_ ^ c) * 0x100000001b3ULL; }
  uint64_t value_ = 0xcbf29ce484222325ULL;
};

std::string attributeText(const graph::Node& node, std::string_view name) {
  const auto place = node.attributes.find(name);
  const auto* text = place == node.attributes.end() ? nullptr : std::get_if<std::string>(&place->second);
  return text ? *text : node.name;
}

int64_t attributeInteger(const graph::Node& node, std::string_view name) {
  const auto place = node.attributes.find(name);
  const auto* number = place == node.attributes.end() ? nullptr : std::get_if<int64_t>(&place->second);
  return number ? *number : 0;
}

/// Null: not given.
const graph::Value* valueOf(const graph::Graph& graph, ValueId input) {
  return input.valid() ? graph.find_value(input) : nullptr;
}

void append(ScenePill& pill, const std::string& name, double bytes) {
  constexpr size_t kLongest = 26;  // characters; the tool tip has the rest
  pill.bytes += bytes;
  const std::string whole = ", " + pill.text + ",";
  if (whole.find(", " + name + ",") != std::string::npos) return;
  if (pill.text.size() + name.size() > kLongest && !pill.text.empty()) {
    if (!pill.text.ends_with("…")) pill.text += ", …";
    return;
  }
  pill.text += (pill.text.empty() ? "" : ", ") + name;
}

void addPills(const SceneGraph& scene, const graph::Node& source, SceneNode& node, const Bindings& bindings) {
  const graph::Graph& graph = *scene.graph;
  for (const ValueId input : source.inputs) {
    const graph::Value* value = valueOf(graph, input);
    if (!value) continue;
    const graph::Node& producer = graph.node(value->producer);
    if (!producer.is_source() || scene.draws(producer.id)) continue;
    switch (value->kind) {
      case graph::ValueKind::weight:
        append(node.weights, shortTensor(attributeText(producer, "tensor")),
               graph::bytes_of(value->type, bindings));
        break;
      case graph::ValueKind::constant:
        append(node.inputs, producer.name, 0);
        break;
      default:
        append(node.inputs, shortTensor(attributeText(producer, "name")), 0);
        break;
    }
  }
}

/// Of a node with weight matrices: what goes in and out, and the stored dtype.
bool describeMatrix(const graph::Graph& graph, const graph::Node& source, SceneNode& node) {
  for (const ValueId input : source.inputs) {
    const graph::Value* value = valueOf(graph, input);
    if (!value || value->kind != graph::ValueKind::weight || value->type.shape.size() != 2) continue;
    node.detail = value->type.shape[1].to_string() + " → " + value->type.shape[0].to_string();
    node.type = std::string(name_of(value->type.dtype));
    return true;
  }
  return false;
}

/// A node that moved into a layer drops the layer's number: "add_3_norm" is "add_norm" in layers.3.
std::string drawnName(const SceneGraph& scene, const SceneNode& node, const graph::Node& source) {
  const SceneGroup& group = scene.groups[static_cast<size_t>(node.group)];
  if (group.number < 0 || source.scope != group.stem) return source.name;
  std::string name = source.name;
  const std::string number = "_" + std::to_string(group.number);
  const size_t at = name.find(number);
  const size_t end = at + number.size();
  if (at != std::string::npos && (end == name.size() || name[end] == '_')) name.erase(at, number.size());
  return name.empty() ? source.name : name;
}

/// What a node is asked to compute in, where most are asked for something else.
std::string ownPrecision(const graph::Node& node, std::string_view common) {
  const std::string_view asked = precision_of(node);
  if (!multiplies(node.op->family) || asked == common) return {};
  return asked.empty() ? "default" : std::string(asked);
}

void describe(const SceneGraph& scene, SceneNode& node, const Bindings& bindings,
              std::string_view precision) {
  const graph::Graph& graph = *scene.graph;
  const graph::Node& source = graph.node(node.id);
  node.name = drawnName(scene, node, source);
  node.path = source.path();
  node.op = source.op->name;
  node.family = source.op->family;
  node.transfer = node.op == graph::kTransferOp;
  node.precision = ownPrecision(source, precision);
  node.fused = std::max<int>(1, static_cast<int>(source.origins.size()));
  node.movedBytes = graph.cost(node.id, bindings).bytes;
  addPills(scene, source, node, bindings);
  if (source.op->family == graph::OpFamily::linear && describeMatrix(graph, source, node)) return;
  node.detail = node.op;
  if (!source.outputs.empty())
    if (const graph::Value* value = graph.find_value(source.outputs.front())) {
      const std::string shape = shapeText(value->type.shape, bindings);
      if (value->kind != graph::ValueKind::state)
        node.type = shape;
      else  // one that does not grow with the text says how large it is
        node.type = value->type.dtype == DType::f32 ? "fixed state " + shape : "state";
    }
}

}  // namespace

std::string shortTensor(const std::string& tensor) {
  std::string name = tensor;
  for (const std::string_view suffix : {".weight", ".bias"})
    if (name.size() > suffix.size() && name.ends_with(suffix)) name.resize(name.size() - suffix.size());
  const size_t dot = name.rfind('.');
  return dot == std::string::npos ? name : name.substr(dot + 1);
}

std::string shapeText(const Shape& shape, const Bindings& bindings) {
  std::string text = "[";
  for (const Dim& dim : shape) {
    const std::optional<int64_t> size = dim.evaluate(bindings);
    text += (text.size() > 1 ? ", " : "") + (size ? std::to_string(*size) : dim.to_string());
  }
  return text + "]";
}

void describeNodes(SceneGraph& scene, const Bindings& bindings) {
  const std::string_view precision = common_precision(*scene.graph);
  for (SceneNode& node : scene.nodes) describe(scene, node, bindings, precision);
}

void describeGroups(SceneGraph& scene) {
  for (SceneGroup& group : scene.groups) {
    group.doc = std::to_string(group.nodeCount()) + " nodes";
    if (group.number >= 0) continue;
    for (int at = group.begin; at < group.end; ++at) {
      const graph::Node& node = scene.graph->node(scene.nodes[static_cast<size_t>(at)].id);
      const int64_t heads = attributeInteger(node, "heads"), shared = attributeInteger(node, "kv_heads");
      if (heads <= 0 || shared <= 0) continue;  // not an attention proper
      group.doc = std::to_string(heads) + " heads";
      if (shared != heads) group.doc += ", " + std::to_string(shared) + " KV";
      break;
    }
  }
}

namespace {

/// What a node is, whichever group looks at it: the op, its attributes, and what of its inputs is not drawn.
uint64_t hashOf(const SceneGraph& scene, const SceneNode& node) {
  const graph::Node& source = scene.graph->node(node.id);
  Hash hash;
  hash.add(node.op);
  hash.add(static_cast<uint64_t>(node.live));  // what is bypassed is seen beside the stack, not hidden in it
  hash.add(node.name);
  for (const auto& [name, value] : source.attributes) {
    if (name == "layer" || name == "tensor" || name == "name") continue;
    if (name == "frame" || name == "note") continue;  // drawn on the graph, not part of what runs
    hash.add(name);
    hash.add(graph::to_string(value));
  }
  for (const ValueId input : source.inputs) {
    const graph::Value* value = valueOf(*scene.graph, input);
    if (!value) {
      hash.add(uint64_t{1});
    } else if (!scene.draws(value->producer)) {
      hash.add(static_cast<uint64_t>(value->kind) + 2);
      hash.add(to_string(value->type.shape));
    } else {
      hash.add(uint64_t{0});
    }
  }
  return hash.value();
}

/// How a group sees one of its nodes: its place below the group and where its inputs come from.
void hashPlace(const SceneGraph& scene, const SceneGroup& group, const SceneNode& node, Hash& hash) {
  const std::string& place = scene.groups[static_cast<size_t>(node.group)].path;
  hash.add(std::string_view(place).substr(std::min(place.size(), group.path.size())));
  for (const ValueId input : scene.graph->node(node.id).inputs) {
    const graph::Value* value = valueOf(*scene.graph, input);
    const SceneNode* producer = value ? scene.find(value->producer) : nullptr;
    if (!producer || producer->id != value->producer) continue;  // not drawn
    const int at = producer->position;
    const bool inside = at >= group.begin && at < group.end;
    hash.add(inside ? static_cast<uint64_t>(at - group.begin) + 16 : uint64_t{8});
    hash.add(static_cast<uint64_t>(value->output));
  }
}

/// The dtypes of what a node is given and the types of what it makes, which do not change a layout.
void hashTypes(const SceneGraph& scene, const SceneNode& node, Hash& hash) {
  const graph::Node& source = scene.graph->node(node.id);
  for (const ValueId input : source.inputs)
    if (const graph::Value* value = valueOf(*scene.graph, input))
      hash.add(static_cast<uint64_t>(value->type.dtype));
  for (const ValueId output : source.outputs)
    if (const graph::Value* value = scene.graph->find_value(output)) {
      hash.add(static_cast<uint64_t>(value->type.dtype));
      hash.add(to_string(value->type.shape));
    }
}

}  // namespace

void hashGroups(SceneGraph& scene) {
  std::vector<uint64_t> hashes;
  for (const SceneNode& node : scene.nodes) hashes.push_back(hashOf(scene, node));
  for (auto place = scene.groups.rbegin(); place != scene.groups.rend();
       ++place) {  // inner groups before outer ones
    SceneGroup& group = *place;
    Hash stack;
    for (int at = group.begin; at < group.end; ++at) {
      stack.add(hashes[static_cast<size_t>(at)]);
      hashPlace(scene, group, scene.nodes[static_cast<size_t>(at)], stack);
    }
    group.stackHash = stack.value();
    if (group.number >= 0) {
      Hash kind = stack;
      for (int at = group.begin; at < group.end; ++at)
        hashTypes(scene, scene.nodes[static_cast<size_t>(at)], kind);
      group.kindHash = kind.value();
    }
    Hash layout;
    layout.add(group.stackHash);
    for (int at = group.begin; at < group.end; ++at) {
      const SceneNode& node = scene.nodes[static_cast<size_t>(at)];
      layout.add(static_cast<uint64_t>(node.fused > 1) + 2 * uint64_t{node.stream});
      layout.add(node.detail.size() + 256 * node.type.size());  // boxes are as wide as their words
      layout.add(static_cast<uint64_t>(node.weights.empty()) +
                 2 * static_cast<uint64_t>(node.inputs.empty()));
    }
    for (const SceneChild& child : group.children)
      layout.add(child.isGroup ? scene.groups[static_cast<size_t>(child.index)].layoutHash : uint64_t{0});
    for (const SceneEdge& edge : group.edges) {
      layout.add(static_cast<uint64_t>(static_cast<uint32_t>(edge.from)));
      layout.add(static_cast<uint64_t>(static_cast<uint32_t>(edge.to)) * 2 + uint64_t{edge.stream});
    }
    group.layoutHash = layout.value();
  }
}

}  // namespace orrery::ui
