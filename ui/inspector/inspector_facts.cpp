#include "ui/inspector/inspector_facts.h"

#include <QRegularExpression>
#include <algorithm>
#include <unordered_set>

#include "engine/graph/shown_weights.h"
#include "ui/graph/qt_values.h"
#include "ui/graph/scene_graph.h"

namespace orrery::ui {
namespace {

QString text(std::string_view value) {
  return QString::fromUtf8(value.data(), static_cast<qsizetype>(value.size()));
}

QString roleOf(graph::ValueKind kind) {
  switch (kind) {
    case graph::ValueKind::weight:
      return "W";
    case graph::ValueKind::state:
      return "state";
    case graph::ValueKind::constant:
      return "const";
    default:
      return "in";
  }
}

QString shapeText(const Shape& shape) { return QString::fromStdString(to_string(shape)); }

ValueRow rowOf(const graph::Value& value, const QString& role, const QString& name,
               const Bindings& bindings) {
  return {role,
          name,
          shapeText(value.type.shape),
          text(name_of(value.type.dtype)),
          graph::bytes_of(value.type, bindings),
          value.producer,
          {}};
}

/// A weight is called by its tensor, without the prefix that the scope already tells.
QString weightName(const graph::Graph& graph, const graph::Value& value) {
  const graph::Node* source = graph.find(value.producer);
  if (source)
    if (const auto tensor = source->attributes.find("tensor"); tensor != source->attributes.end())
      if (const auto* name = std::get_if<std::string>(&tensor->second)) return QString::fromStdString(*name);
  return QString::fromStdString(value.name);
}

void addInputs(NodeFacts& facts, const graph::Graph& graph, const graph::Node& node,
               const Bindings& bindings) {
  double heaviest = 0;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const graph::Value* value = graph.find_value(node.inputs[i]);
    if (!value) continue;
    const bool weight = value->kind == graph::ValueKind::weight;
    const size_t slot = node.op->inputs.empty() ? 0 : std::min(i, node.op->inputs.size() - 1);
    const QString name = weight                    ? weightName(graph, *value)
                         : node.op->inputs.empty() ? text(value->name)
                                                   : text(node.op->inputs[slot].name);
    facts.values.push_back(rowOf(*value, roleOf(value->kind), name, bindings));
    if (weight) facts.values.back().brief = QString::fromStdString(shortTensor(name.toStdString()));
    if (weight && facts.values.back().bytes > heaviest) {
      heaviest = facts.values.back().bytes;
      facts.dtype = facts.values.back().dtype;
    }
  }
}

std::unordered_set<NodeId> deadNodes(const graph::Graph& graph) {
  const std::vector<bool> live = graph.live();
  std::unordered_set<NodeId> dead;
  for (size_t i = 0; i < live.size(); ++i)
    if (!live[i]) dead.insert(graph.order()[i]);
  return dead;
}

}  // namespace

std::optional<NodeFacts> nodeFacts(const graph::Graph& graph, const graph::Graph* model, NodeId id,
                                   const Bindings& bindings) {
  const graph::Node* node = graph.find(id);
  if (!node) return std::nullopt;
  NodeFacts facts;
  facts.id = id;
  facts.name = QString::fromStdString(node->name);
  facts.scope = QString::fromStdString(node->scope);
  facts.op = text(node->op->name);
  facts.doc = text(node->op->doc);
  facts.family = node->op->family;
  addInputs(facts, graph, *node, bindings);
  for (const ValueId output : node->outputs)
    if (const graph::Value* value = graph.find_value(output))
      facts.values.push_back(rowOf(*value, "out", QString::fromStdString(value->name), bindings));
  if (facts.dtype.isEmpty() && !facts.values.empty()) facts.dtype = facts.values.back().dtype;
  for (const auto& [name, value] : node->attributes)
    facts.attributes.emplace_back(text(name), attributeText(value));
  for (const graph::Origin& origin : node->origins) {
    const graph::Node* source = model ? model->find(origin.node) : nullptr;
    facts.origins.push_back({origin.node,
                             source ? QString::fromStdString(source->path()) : QString("removed node"),
                             origin.share});
  }
  if (facts.origins.size() < 2) facts.origins.clear();
  facts.bypassed = deadNodes(graph).contains(id);
  return facts;
}

void setStored(NodeFacts& facts, const std::vector<api::TensorRow>& tensors) {
  std::erase_if(facts.attributes, [](const auto& attribute) { return attribute.first != "tensor"; });
  if (facts.attributes.empty() || facts.values.empty()) return;
  const std::string name = facts.attributes.front().second.toStdString();
  for (const api::TensorRow& tensor : tensors) {
    if (tensor.name != name) continue;
    facts.dtype = facts.values.front().dtype = QString::fromStdString(tensor.dtype);
    facts.values.front().bytes = static_cast<double>(tensor.bytes);
  }
}

TimeFacts timeFacts(const api::Profile* profile, std::span<const NodeId> nodes, bool fused) {
  TimeFacts facts;
  if (!profile) return facts;
  const api::Measured measured = profile->measured(nodes, fused);
  facts.timing = measured.timing;
  facts.estimated = measured.estimated;
  facts.share = profile->share(measured.timing.us);
  const auto speed = [&](double amount, double least) {
    return measured.timing.us > 0
               ? Speed{amount / measured.timing.us * 1e6, least > 0 ? amount / least * 1e6 : 0}
               : Speed{};
  };
  facts.bytes = speed(measured.bytes, measured.memory_us);
  facts.flops = speed(measured.flops, measured.compute_us);
  return facts;
}

std::vector<std::string> scopesOf(const QString& scope) {
  static const QRegularExpression range("^(.*\\.)(\\d+)[-\u2013](\\d+)$");
  const QRegularExpressionMatch match = range.match(scope);
  if (!match.hasMatch()) return {scope.toStdString()};
  std::vector<std::string> scopes;
  const int last = std::min(match.captured(3).toInt(), match.captured(2).toInt() + 100000);
  for (int layer = match.captured(2).toInt(); layer <= last; ++layer)
    scopes.push_back((match.captured(1) + QString::number(layer)).toStdString());
  return scopes;
}

std::vector<NodeId> nodesOf(const graph::Graph& graph, const QString& scope) {
  std::vector<NodeId> nodes;
  for (const std::string& part : scopesOf(scope)) {
    const std::vector<NodeId> inside = graph.in_scope(part);
    nodes.insert(nodes.end(), inside.begin(), inside.end());
  }
  return nodes;
}

ScopeFacts scopeFacts(const graph::Graph& graph, const QString& scope) {
  ScopeFacts facts;
  facts.scope = scope;
  const std::unordered_set<NodeId> shown = graph::shown_weights(graph), dead = deadNodes(graph);
  for (const NodeId id : nodesOf(graph, scope)) {
    const graph::Node& node = graph.node(id);
    facts.nodes += shown.contains(id) || !node.is_source();
    facts.bypassed += !node.is_source() && dead.contains(id);
    if (!node.is_source()) continue;
    for (const ValueId output : node.outputs)
      if (graph.value(output).kind == graph::ValueKind::weight)
        facts.weightBytes += static_cast<uint64_t>(graph::bytes_of(graph.value(output).type, {}));
  }
  return facts;
}

const api::PlanStep* planStep(const api::PlanReport* plan, const graph::Graph* fused, NodeId node,
                              bool nodeIsFused) {
  if (!plan) return nullptr;
  for (const api::PlanStep& step : plan->steps) {
    if (step.node == node) return &step;
    if (nodeIsFused || !fused) continue;
    const graph::Node* owner = fused->find(step.node);
    if (!owner) continue;
    for (const graph::Origin& origin : owner->origins)
      if (origin.node == node) return &step;
  }
  return nullptr;
}

NodeId transferSource(const graph::Graph& graph, NodeId id) {
  const graph::Node* node = graph.find(id);
  if (!node || !graph::is_transfer(*node) || node->inputs.empty()) return {};
  const graph::Value* carried = graph.find_value(node->inputs.front());
  return carried ? carried->producer : NodeId{};
}

}  // namespace orrery::ui
