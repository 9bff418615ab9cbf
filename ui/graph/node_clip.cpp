#include "ui/graph/node_clip.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <algorithm>
#include <unordered_set>

#include "ui/graph/qt_values.h"
#include "ui/placement/scope_words.h"

namespace orrery::ui {
namespace {

constexpr const char* kMime = "application/x-orrery-nodes";

/// As the op's schema types it: a whole number of a real attribute is real.
std::optional<graph::Attribute> attributeOf(const QJsonValue& value) {
  if (value.isBool()) return value.toBool();
  if (value.isString()) return value.toString().toStdString();
  if (value.isDouble()) {
    const double number = value.toDouble();
    if (const auto whole = static_cast<int64_t>(number); static_cast<double>(whole) == number) return whole;
    return number;
  }
  if (!value.isArray()) return std::nullopt;
  std::vector<int64_t> whole;
  std::vector<double> real;
  bool all = true;
  for (const QJsonValue& one : value.toArray()) {
    real.push_back(one.toDouble());
    whole.push_back(static_cast<int64_t>(real.back()));
    all = all && static_cast<double>(whole.back()) == real.back();
  }
  return all ? graph::Attribute(std::move(whole)) : graph::Attribute(std::move(real));
}

std::string leaf(const std::string& path) { return path.substr(path.rfind('.') + 1); }

}  // namespace

EditRequest duplicateRequest(const std::vector<std::string>& chosen, const std::string& suffix) {
  if (chosen.empty()) return {};
  const QString scopes = together(chosen);
  edit::Edit edit = verbEdit("duplicate", "scope", scopes);
  if (!suffix.empty()) edit.fields["as"] = suffix;
  return {{std::move(edit)}, "duplicate " + scopes};
}

std::string freeSuffix(const graph::Graph& graph, const std::vector<std::string>& chosen) {
  for (int number = 2;; ++number) {
    const std::string suffix = "@" + std::to_string(number);
    const bool taken = std::any_of(chosen.begin(), chosen.end(), [&](const std::string& path) {
      return !graph.in_scope(path + suffix).empty();
    });
    if (!taken) return suffix;
  }
}

NodeClip NodeClip::of(const graph::Graph& graph, const std::vector<std::string>& chosen) {
  NodeClip clip;
  clip.chosen_ = chosen;
  for (const NodeId id : nodesIn(graph, together(chosen))) {
    const graph::Node& node = graph.node(id);
    Node copied{node.op->name, node.path(), node.attributes, {}, {}};
    for (const ValueId input : node.inputs) {
      const graph::Value* value = input.valid() ? graph.find_value(input) : nullptr;
      copied.inputs.push_back(value ? graph.value_path(input) : std::string());
      copied.source.push_back(value && graph.node(value->producer).is_source());
    }
    clip.nodes_.push_back(std::move(copied));
  }
  return clip;
}

std::unique_ptr<QMimeData> NodeClip::mime() const {
  QJsonArray nodes, chosen;
  for (const std::string& one : chosen_) chosen.append(text(one));
  for (const Node& node : nodes_) {
    QJsonArray inputs;
    for (size_t i = 0; i < node.inputs.size(); ++i)
      inputs.append(QJsonObject{{"value", text(node.inputs[i])}, {"source", bool(node.source[i])}});
    nodes.append(QJsonObject{
        {"op", text(node.op)},
        {"path", text(node.path)},
        {"attributes",
         QJsonDocument::fromJson(QByteArray::fromStdString(attributesText(node.attributes))).object()},
        {"inputs", inputs}});
  }
  auto mime = std::make_unique<QMimeData>();
  mime->setData(kMime, QJsonDocument(QJsonObject{{"chosen", chosen}, {"nodes", nodes}}).toJson());
  mime->setText(together(chosen_));
  return mime;
}

std::optional<NodeClip> NodeClip::from(const QMimeData* mime) {
  if (!mime || !mime->hasFormat(kMime)) return std::nullopt;
  const QJsonObject all = QJsonDocument::fromJson(mime->data(kMime)).object();
  NodeClip clip;
  for (const QJsonValue& one : all["chosen"].toArray()) clip.chosen_.push_back(one.toString().toStdString());
  for (const QJsonValue& one : all["nodes"].toArray()) {
    const QJsonObject object = one.toObject();
    Node node{object["op"].toString().toStdString(), object["path"].toString().toStdString(), {}, {}, {}};
    const QJsonObject attributes = object["attributes"].toObject();
    for (auto entry = attributes.begin(); entry != attributes.end(); ++entry)
      if (auto attribute = attributeOf(entry.value()))
        node.attributes[entry.key().toStdString()] = std::move(*attribute);
    for (const QJsonValue& input : object["inputs"].toArray()) {
      node.inputs.push_back(input["value"].toString().toStdString());
      node.source.push_back(input["source"].toBool());
    }
    clip.nodes_.push_back(std::move(node));
  }
  if (clip.nodes_.empty()) return std::nullopt;
  return clip;
}

bool NodeClip::isThere(const graph::Graph& graph) const {
  return std::all_of(nodes_.begin(), nodes_.end(), [&graph](const Node& node) {
    const graph::Node* found = graph.find(graph.find_path(node.path));
    return found && found->op->name == node.op;
  });
}

const NodeClip::Node* NodeClip::making(const std::string& value) const {
  const std::string path = value.substr(0, value.rfind(':'));
  const auto found =
      std::find_if(nodes_.begin(), nodes_.end(), [&path](const Node& node) { return node.path == path; });
  return found == nodes_.end() ? nullptr : &*found;
}

EditRequest NodeClip::withInputs(const graph::Graph& graph, const std::string& scope) const {
  if (isThere(graph)) return duplicateRequest(chosen_);
  Drafts copies;
  std::vector<int> made;
  for (Draft& draft : drafts(graph, scope)) made.push_back(copies.add(graph, std::move(draft)));
  if (made.size() != nodes_.size()) return {};  // an op is not there
  EditRequest request;
  for (size_t i = 0; i < made.size(); ++i) {
    Draft& draft = *copies.find(made[i]);
    for (size_t k = 0; k < draft.inputs.size() && k < nodes_[i].inputs.size(); ++k)
      if (draft.inputs[k].empty() && findValue(graph, nodes_[i].inputs[k]).valid())
        draft.inputs[k] = nodes_[i].inputs[k];
  }
  for (const int id : made) {
    const EditRequest own = copies.request(graph, *copies.find(id));
    if (own.empty()) return {};
    for (const edit::Edit& edit : own.edits)
      if (std::find(request.edits.begin(), request.edits.end(), edit) == request.edits.end())
        request.edits.push_back(edit);
  }
  request.name = QStringLiteral("paste %1")
                     .arg(nodes_.size() == 1 ? text(leaf(nodes_.front().path))
                                             : QString::number(nodes_.size()) + " nodes");
  return request;
}

std::vector<Draft> NodeClip::drafts(const graph::Graph& graph, const std::string& scope) const {
  std::vector<Draft> drafts;
  std::unordered_set<std::string> taken;
  std::map<std::string, std::string> paths;  // of the copies, by those of the originals
  for (const Node& node : nodes_) {
    const graph::OpPtr op = graph.ops().find(node.op);
    if (!op) continue;
    Draft draft;
    draft.op = op;
    draft.scope = scope;
    draft.attributes = node.attributes;
    std::string path = freePath(graph, scope, leaf(node.path));
    for (int number = 2; taken.contains(path); ++number)
      path = freePath(graph, scope, leaf(node.path) + "_" + std::to_string(number));
    taken.insert(path);
    draft.name = leaf(path);
    paths[node.path] = path;
    draft.inputs.resize(op->inputs.size());
    for (size_t i = 0; i < node.inputs.size() && i < draft.inputs.size(); ++i) {
      const std::string& value = node.inputs[i];
      const auto inner = paths.find(value.substr(0, value.rfind(':')));
      if (inner != paths.end())
        draft.inputs[i] = inner->second + value.substr(value.rfind(':'));
      else if (node.source[i] && findValue(graph, value).valid())
        draft.inputs[i] = value;
    }
    drafts.push_back(std::move(draft));
  }
  return drafts;
}

}  // namespace orrery::ui
