// What is chosen in the view: with the pointer, with keys, from outside; and the menu of it.
#include <QContextMenuEvent>
#include <algorithm>
#include <cmath>

#include "ui/graph/graph_view_private.h"

namespace orrery::ui {
std::vector<GraphView::Selected> GraphView::selection() const {
  std::vector<Selected> all = d_->alsoSelected;
  if (!d_->selected.empty()) all.push_back(d_->selected);
  return all;
}

std::pair<int, int> GraphView::Private::groupsOf(const QString& scope) const {
  if (!drawing || scope.isEmpty()) return {-1, -1};
  if (const int exact = drawing.scene->group(scope.toStdString()); exact >= 0) return {exact, exact};
  const qsizetype dash = scope.lastIndexOf('-'), dot = scope.lastIndexOf('.');
  if (dash < dot || dot < 0) return {-1, -1};
  const int first = drawing.scene->group(scope.left(dash).toStdString());
  const int last = drawing.scene->group((scope.left(dot + 1) + scope.mid(dash + 1)).toStdString());
  return first >= 0 && last >= first ? std::pair(first, last) : std::pair(-1, -1);
}

QString GraphView::Private::scopeOf(const Hit& hit) const {
  if (!drawing || hit.group < 0) return {};
  const SceneGroup& first = drawing.scene->groups[at(hit.group)];
  if (hit.kind != Hit::Kind::stack) return QString::fromStdString(first.path);
  return QString::fromStdString(stackScope(first, drawing.scene->groups[at(hit.lastGroup)]));
}

GraphView::Selected GraphView::Private::thingAt(const Hit& hit) const {
  if (hit.kind == Hit::Kind::node) return {drawing.scene->nodes[at(hit.node)].id, {}};
  return {{}, scopeOf(hit)};
}

void GraphView::Private::selectHit(const Hit& hit, bool add) {
  const Selected thing = thingAt(hit);
  if (add && thing.empty()) return;
  add ? addToSelection(thing) : setSelection(thing.node, thing.scope.toStdString());
  notifySelection();
}

void GraphView::Private::setSelection(NodeId node, const std::string& scope) {
  selected = {node, QString::fromStdString(scope)};
  alsoSelected.clear();
  markSelection();
}

void GraphView::Private::setSelections(std::vector<Selected> chosen) {
  selected = chosen.empty() ? Selected{} : chosen.back();
  if (!chosen.empty()) chosen.pop_back();
  alsoSelected = std::move(chosen);
  markSelection();
}

/// What was chosen stays so beside the new one; a second time takes it out again.
void GraphView::Private::addToSelection(Selected added) {
  const auto known = std::find(alsoSelected.begin(), alsoSelected.end(), added);
  if (known != alsoSelected.end()) {
    alsoSelected.erase(known);
  } else if (added == selected) {
    selected = alsoSelected.empty() ? Selected{} : alsoSelected.back();
    if (!alsoSelected.empty()) alsoSelected.pop_back();
  } else {
    if (!selected.empty()) alsoSelected.push_back(selected);
    selected = std::move(added);
  }
  markSelection();
}

void GraphView::Private::markSelection() {
  std::vector<Chosen> chosen;
  for (const NodeId node : lit)
    if (const Chosen one = chosenOf({node, {}}); one.node >= 0) chosen.push_back(one);
  for (const Selected& also : alsoSelected) chosen.push_back(chosenOf(also));
  chosen.push_back(chosenOf(selected));
  marks.choose(std::move(chosen));
  tellPlace();
  refreshMarks();
  if (editor) editor->selectionChanged();
  q->viewport()->update();
}

Chosen GraphView::Private::chosenOf(const Selected& thing) const {
  Chosen chosen;
  if (!drawing) return chosen;
  if (const SceneNode* found = thing.node.valid() ? drawing.scene->find(thing.node) : nullptr)
    chosen.node = found->position;
  std::tie(chosen.group, chosen.lastGroup) = groupsOf(thing.scope);
  return chosen;
}

void GraphView::Private::notifySelection() {
  speakChoice();
  if (selected.node.valid())
    emit q->nodeSelected(selected.node);
  else if (!selected.scope.isEmpty())
    emit q->scopeSelected(selected.scope);
  else
    emit q->selectionCleared();
}

void GraphView::light(std::vector<NodeId> nodes) {
  if (nodes == d_->lit) return;
  d_->lit = std::move(nodes);
  d_->markSelection();
}

const std::vector<NodeId>& GraphView::lit() const { return d_->lit; }

void GraphView::revealLit() {
  Private& d = *d_;
  if (!d.drawing) return;
  for (const NodeId id : d.lit) {
    const SceneNode* node = d.drawing.scene->find(id);
    if (!node) continue;
    if (const auto box = boxOfNode(d.drawing, node->position)) d.reveal(*box);
    return;
  }
}

void GraphView::setOpenedNodes(std::unordered_set<std::string> scopes,
                               std::unordered_map<NodeId, double> shares) {
  Private& d = *d_;
  for (const std::string& scope : scopes)
    if (!d.openedNodes.contains(scope)) {
      d.open.insert(scope);
      d.revealAfter = {{NodeId(), scope}};
    }
  d.openedNodes = std::move(scopes);
  d.shares = std::move(shares);
}

void GraphView::Private::activate(NodeId node) {
  if (node.valid()) emit q->nodeActivated(node);
}

/// Of a node that stands for several, or the frame that it was opened into; what is there stays where it is
/// on the screen.
bool GraphView::Private::askOpening(const Hit& hit) {
  if (hit.kind == Hit::Kind::node) {
    const graph::Node* node = graph ? graph->find(drawing.scene->nodes[at(hit.node)].id) : nullptr;
    if (!node || node->origins.size() < 2) return false;
    anchorAt(-1, hit.node);
    if (anchor) anchor = Anchor{node->path(), {}, anchor->screen};
    emit q->openingAsked(QString::fromStdString(node->path()), true);
    return true;
  }
  if (hit.kind != Hit::Kind::open || !openedNodes.contains(drawing.scene->groups[at(hit.group)].path))
    return false;
  emit q->openingAsked(scopeOf(hit), false);
  return true;
}

void GraphView::contextMenuEvent(QContextMenuEvent* event) {
  Private& d = *d_;
  QPoint global = event->globalPos();
  if (event->reason() == QContextMenuEvent::Keyboard) {
    const auto box =
        d.marks.node >= 0 ? boxOfNode(d.drawing, d.marks.node) : boxOfGroup(d.drawing, d.marks.group);
    if (box) {
      const QPointF corner((box->x - d.visibleScene().x()) * d.scale,
                           (box->bottom() - d.visibleScene().y()) * d.scale);
      global = viewport()->mapToGlobal(corner.toPoint());
    }
    emit contextMenuAsked(global);
    return;
  }
  if (!d.drawing) return;
  const Hit hit = d.hitAt(event->pos());
  const Selected thing = d.thingAt(hit);
  const std::vector<Selected> chosen = selection();  // the menu of one of several is that of all
  if (std::find(chosen.begin(), chosen.end(), thing) == chosen.end()) d.selectHit(hit);
  emit contextMenuAsked(global);
}

void GraphView::Private::moveSelection(int key) {
  if (walkPage(key)) return;
  const std::vector<Hit> order = walkOrder(drawing);
  if (order.empty()) return;
  std::optional<Rect> from =
      marks.node >= 0 ? boxOfNode(drawing, marks.node) : boxOfGroup(drawing, marks.group);
  if (!from || (marks.node < 0 && marks.group < 0)) from = Rect{0, -1, 0, 0};
  const Hit* best = nullptr;
  double least = 0;
  const double x = from->x + from->w / 2,
               y = from->y + (marks.group >= 0 && marks.node < 0 ? 0 : from->h / 2);
  for (const Hit& hit : order) {
    const double dx = hit.box.x + hit.box.w / 2 - x, dy = hit.box.y + hit.box.h / 2 - y;
    const bool sideways = key == Qt::Key_Left || key == Qt::Key_Right;
    const bool ahead = key == Qt::Key_Up     ? dy < -2
                       : key == Qt::Key_Down ? dy > 2
                       : key == Qt::Key_Left ? dx < -2 && std::abs(dy) < 40
                                             : dx > 2 && std::abs(dy) < 40;
    if (!ahead) continue;
    const double cost = sideways ? std::abs(dx) + 3 * std::abs(dy) : std::abs(dy) + 0.4 * std::abs(dx);
    if (best && cost >= least) continue;
    best = &hit;
    least = cost;
  }
  if (!best) return;
  selectHit(*best);
  reveal(best->box);
}

void GraphView::Private::upALevel() {
  if (!drawing) return;
  const int inner = marks.node >= 0    ? drawing.scene->nodes[at(marks.node)].group
                    : marks.group >= 0 ? drawing.scene->groups[at(marks.group)].parent
                                       : -1;
  setSelection({}, inner > 0 ? drawing.scene->groups[at(inner)].path : std::string());
  notifySelection();
  if (const auto box = boxOfGroup(drawing, inner); box && inner > 0) reveal(*box);
}

}  // namespace orrery::ui
