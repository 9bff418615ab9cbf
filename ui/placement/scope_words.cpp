#include "ui/placement/scope_words.h"

#include <QRegularExpression>
#include <algorithm>

namespace orrery::ui {
namespace {

/// "layers.4-7" and "layers.*" as a pattern of scopes and what is below them.
QString patternOf(const QString& scope) {
  static const QRegularExpression range("^(\\d+)-(\\d+)$");
  QStringList parts;
  for (const QString& part : scope.split('.')) {
    if (const QRegularExpressionMatch match = range.match(part); match.hasMatch()) {
      QStringList numbers;
      for (int i = match.captured(1).toInt(); i <= match.captured(2).toInt() && numbers.size() < 4096; ++i)
        numbers += QString::number(i);
      parts += "(?:" + numbers.join('|') + ")";
    } else {
      parts += QRegularExpression::escape(part).replace("\\*", "[^.]*");
    }
  }
  return parts.join("\\.");
}

/// One pattern of all of them.
QString patternsOf(const QString& scopes) {
  QStringList patterns;
  for (const QString& scope : scopes.split(',', Qt::SkipEmptyParts)) patterns += patternOf(scope);
  return patterns.isEmpty() ? QString() : "(?:" + patterns.join('|') + ")";
}

}  // namespace

std::vector<NodeId> nodesIn(const graph::Graph& graph, const QString& scopes) {
  const QString patterns = patternsOf(scopes);
  std::vector<NodeId> nodes;
  if (patterns.isEmpty()) return nodes;
  const QRegularExpression pattern("^" + patterns + "(?:\\..*)?$");
  for (const NodeId id : graph.order()) {
    const graph::Node& node = graph.node(id);
    if (!node.is_source() && pattern.match(QString::fromStdString(node.path())).hasMatch())
      nodes.push_back(id);
  }
  return nodes;
}

bool namesScope(const QString& scopes, const QString& scope) {
  const QString patterns = patternsOf(scopes);
  return !patterns.isEmpty() &&
         QRegularExpression(QRegularExpression::anchoredPattern(patterns)).match(scope).hasMatch();
}

QString scopeWord(const QStringList& scopes) { return scopes.join(',').replace(QChar(0x2013), '-'); }

QString outerScope(const QString& scope) {
  return scope.left(std::max<qsizetype>(0, scope.lastIndexOf('.')));
}

QStringList modelPaths(const graph::Graph& model, const graph::Graph& shown, NodeId id) {
  const graph::Node* node = shown.find(id);
  if (!node) return {};
  QStringList paths;
  const auto add = [&](NodeId source) {
    if (const graph::Node* own = model.find(source)) paths += QString::fromStdString(own->path());
  };
  if (node->origins.empty()) add(id);
  for (const graph::Origin& origin : node->origins) add(origin.node);
  return paths;
}

}  // namespace orrery::ui
