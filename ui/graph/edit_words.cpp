#include "ui/graph/edit_words.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <algorithm>

namespace orrery::ui {
namespace {

std::string textOf(const QJsonObject& object) {
  return QJsonDocument(object).toJson(QJsonDocument::Compact).toStdString();
}

template <class Number>
QJsonArray arrayOf(const std::vector<Number>& numbers) {
  QJsonArray array;
  for (const Number number : numbers) {
    if constexpr (std::is_integral_v<Number>)
      array.append(static_cast<qint64>(number));
    else
      array.append(number);
  }
  return array;
}

QJsonValue jsonOf(const graph::Attribute& attribute) {
  struct Visitor {
    QJsonValue operator()(bool value) const { return value; }
    QJsonValue operator()(int64_t value) const { return static_cast<qint64>(value); }
    QJsonValue operator()(double value) const { return value; }
    QJsonValue operator()(const std::string& value) const { return QString::fromStdString(value); }
    QJsonValue operator()(const std::vector<int64_t>& value) const { return arrayOf(value); }
    QJsonValue operator()(const std::vector<double>& value) const { return arrayOf(value); }
  };
  return std::visit(Visitor(), attribute);
}

}  // namespace

std::string inputPath(const graph::Node& node, int input) {
  const std::vector<graph::InputSpec>& specs = node.op->inputs;
  const auto place = static_cast<size_t>(input);
  const bool named = place < specs.size() && !specs[place].variadic;
  return node.path() + "." + (named ? specs[place].name : std::to_string(input));
}

ValueId findValue(const graph::Graph& graph, const std::string& path) {
  const size_t colon = path.rfind(':');
  if (colon == std::string::npos) return {};
  const graph::Node* node = graph.find(graph.find_path(path.substr(0, colon)));
  if (!node) return {};
  for (const ValueId output : node->outputs)
    if (graph.value(output).name == path.substr(colon + 1)) return output;
  return {};
}

std::string freePath(const graph::Graph& graph, const std::string& scope, const std::string& name) {
  const std::string path = (scope.empty() ? "" : scope + ".") + name;
  std::string free = path;
  for (int number = 2; graph.find_path(free).valid() || !graph.in_scope(free).empty(); ++number)
    free = path + "_" + std::to_string(number);
  return free;
}

edit::Edit insertEdit(const std::string& op, const std::string& path,
                      const std::map<std::string, std::string>& inputs, const graph::Attributes& attributes,
                      const std::string& after) {
  edit::Edit edit{"insert", {{"op", op}, {"as", path}}};
  if (!after.empty()) edit.fields["after"] = after;
  if (!inputs.empty()) {
    QJsonObject object;
    for (const auto& [name, value] : inputs)
      object[QString::fromStdString(name)] = QString::fromStdString(value);
    edit.fields["inputs"] = textOf(object);
  }
  if (!attributes.empty()) edit.fields["attributes"] = attributesText(attributes);
  return edit;
}

edit::Edit connectEdit(const graph::Graph& graph, const graph::Use& reader, const std::string& value) {
  return {"connect", {{"input", inputPath(graph.node(reader.node), reader.input)}, {"value", value}}};
}

edit::Edit disconnectEdit(const graph::Graph& graph, const graph::Use& reader) {
  return {"disconnect", {{"input", inputPath(graph.node(reader.node), reader.input)}}};
}

edit::Edit verbEdit(const char* verb, const char* field, const QString& value) {
  return {verb, {{field, value.toStdString()}}};
}

QString placeName(const graph::Graph& graph, const graph::Use& reader) {
  const graph::Node& node = graph.node(reader.node);
  return QString::fromStdString(inputPath(node, reader.input).substr(node.path().size() - node.name.size()));
}

std::string attributesText(const graph::Attributes& attributes) {
  QJsonObject object;
  for (const auto& [name, value] : attributes) object[QString::fromStdString(name)] = jsonOf(value);
  return textOf(object);
}

}  // namespace orrery::ui
