// Find: which nodes and groups a text means, and walking through them.
#include <QRegularExpression>

#include "ui/graph/graph_view_private.h"

namespace orrery::ui {
namespace {

QRegularExpression patternOf(const QString& text) {
  QString pattern = QRegularExpression::escape(text);
  pattern.replace(QStringLiteral("\\*"), QStringLiteral(".*"))
      .replace(QStringLiteral("\\?"), QStringLiteral("."));
  return QRegularExpression(pattern, QRegularExpression::CaseInsensitiveOption);
}

/// The tensors of a node under their whole names.
bool tensorMatches(const graph::Graph& graph, const graph::Node& node, const QRegularExpression& pattern) {
  for (const ValueId input : node.inputs) {
    const graph::Value* value = input.valid() ? graph.find_value(input) : nullptr;
    if (!value || value->kind != graph::ValueKind::weight) continue;
    const auto& attributes = graph.node(value->producer).attributes;
    const auto tensor = attributes.find("tensor");
    const auto* name = tensor == attributes.end() ? nullptr : std::get_if<std::string>(&tensor->second);
    if (name && pattern.match(QString::fromStdString(*name)).hasMatch()) return true;
  }
  return false;
}

}  // namespace

void GraphView::Private::search() {
  matches.clear();
  marks.matches.clear();
  if (needle.isEmpty() || !drawing) return;
  const SceneGraph& scene = *drawing.scene;
  const QRegularExpression pattern = patternOf(needle);
  const auto hits = [&pattern](const std::string& text) {
    return pattern.match(QString::fromStdString(text)).hasMatch();
  };
  // A path holds the names of all scopes around: only a text with a dot asks for paths.
  const bool byPath = needle.contains('.');
  marks.matches.assign(scene.nodes.size(), 0);
  std::vector<std::pair<int, Match>> found;
  for (size_t i = 1; i < scene.groups.size(); ++i)
    if (hits(byPath ? scene.groups[i].path : scene.groups[i].name))
      found.push_back({scene.groups[i].begin, {-1, static_cast<int>(i)}});
  for (const SceneNode& node : scene.nodes) {
    const bool match = hits(byPath ? node.path : node.name) || hits(node.op) || hits(node.detail) ||
                       hits(node.type) || tensorMatches(*scene.graph, scene.graph->node(node.id), pattern);
    if (!match) continue;
    marks.matches[at(node.position)] = 1;
    found.push_back({node.position, {node.position, -1}});
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [position, entry] : found) matches.push_back(entry);
}

void GraphView::Private::showMatch(int index) {
  match = index;
  for (const std::string& scope : openedByFind) open.erase(scope);  // what the last match opened folds again
  openedByFind.clear();
  if (match >= 0) {
    const Match& found = matches[at(match)];
    const SceneGraph& scene = *drawing.scene;
    const int around =
        found.node >= 0 ? scene.nodes[at(found.node)].group : scene.groups[at(found.group)].parent;
    for (const int group : scene.chain(around))
      if (group > 0 && !open.contains(scene.groups[at(group)].path))
        openedByFind.insert(scene.groups[at(group)].path);
    open.insert(openedByFind.begin(), openedByFind.end());
    if (found.node >= 0)
      setSelection(scene.nodes[at(found.node)].id, {});
    else
      setSelection({}, scene.groups[at(found.group)].path);
    revealAfter = {{selected.node, selected.scope.toStdString()}};
    relayout(false);
    notifySelection();
  }
  emit q->matchesChanged(static_cast<int>(matches.size()), match);
}

int GraphView::find(const QString& text) {
  d_->needle = text;
  d_->search();
  if (text.isEmpty()) d_->openedByFind.clear();  // stays open where the search ended
  d_->match = -1;
  viewport()->update();
  if (d_->matches.empty())
    emit matchesChanged(0, -1);
  else
    d_->showMatch(0);
  return matchCount();
}

int GraphView::findNext() {
  const int count = matchCount();
  if (count > 0) d_->showMatch((d_->match + 1) % count);
  return count > 0 ? d_->match : -1;
}

int GraphView::findPrevious() {
  const int count = matchCount();
  if (count > 0) d_->showMatch((d_->match + count - 1) % count);
  return count > 0 ? d_->match : -1;
}

int GraphView::matchCount() const { return static_cast<int>(d_->matches.size()); }

}  // namespace orrery::ui
