// What screen readers hear of the drawing: what is chosen, and the layers of a page in the order of the
// stream.
#include <QAccessible>
#include <QAccessibleWidget>
#include <map>

#include "ui/graph/graph_view_private.h"

namespace orrery::ui {

QString GraphView::Private::spokenChoice() const {
  if (!drawing || selected.empty()) return {};
  QStringList words;
  int layer = -1;
  Span span;
  if (marks.node >= 0) {
    const SceneNode& node = drawing.scene->nodes[static_cast<size_t>(marks.node)];
    layer = pages.layerOfNode(marks.node);
    words << QString::fromStdString(layer < 0 ? node.path : node.name);
    span = {marks.node, marks.node + 1};
  } else if (marks.group > 0) {
    layer = pages.layerOf(marks.group);
    const SceneGraph& scene = *drawing.scene;
    span = {scene.groups[static_cast<size_t>(marks.group)].begin,
            scene.groups[static_cast<size_t>(marks.lastGroup)].end};
    if (layer < 0) words << selected.scope;
  }
  if (layer >= 0) words << pages.spokenName(layer);
  if (const QString value = heat.text(span); !value.isEmpty()) words << value;
  if (layer >= 0 && !pages.layers()[static_cast<size_t>(layer)].word.isEmpty())
    words << pages.layers()[static_cast<size_t>(layer)].word;
  return words.join(QStringLiteral(", "));
}

QRect GraphView::Private::onScreen(const Rect& box) const {
  const QPointF corner = (QPointF(box.x, box.y) - visibleScene().topLeft()) * scale;
  return {q->viewport()->mapToGlobal(corner.toPoint()), (QSizeF(box.w, box.h) * scale).toSize()};
}

QRect GraphView::Private::choiceOnScreen() const {
  const auto box = marks.node >= 0 ? boxOfNode(drawing, marks.node) : boxOfGroup(drawing, marks.group);
  return box && !selected.empty() ? onScreen(*box) : QRect();
}

/// The first child is what is chosen, the others are the layers.
class GraphView::Private::Access : public QAccessibleWidget {
 public:
  explicit Access(GraphView* view) : QAccessibleWidget(view, QAccessible::Graphic) {}
  ~Access() override {
    for (const auto& [index, id] : parts_) QAccessible::deleteAccessibleInterface(id);
  }

  int childCount() const override { return 1 + static_cast<int>(d().pages.layers().size()); }
  QAccessibleInterface* child(int index) const override;
  int indexOfChild(const QAccessibleInterface* part) const override;
  QAccessibleInterface* focusChild() const override { return d().selected.empty() ? nullptr : child(0); }

  GraphView* view() const { return static_cast<GraphView*>(widget()); }
  const Private& d() const { return *view()->d_; }

 private:
  mutable std::map<int, QAccessible::Id> parts_;
};

class GraphView::Private::AccessPart : public QAccessibleInterface {
 public:
  AccessPart(GraphView* view, int index) : view_(view), index_(index) {}

  bool isValid() const override {
    return !view_.isNull() && index_ <= static_cast<int>(d().pages.layers().size());
  }
  QObject* object() const override { return nullptr; }
  QAccessibleInterface* parent() const override {
    return QAccessible::queryAccessibleInterface(view_.data());
  }
  QAccessibleInterface* child(int) const override { return nullptr; }
  QAccessibleInterface* childAt(int, int) const override { return nullptr; }
  int childCount() const override { return 0; }
  int indexOfChild(const QAccessibleInterface*) const override { return -1; }
  int index() const { return index_; }
  void setText(QAccessible::Text, const QString&) override {}
  QAccessible::Role role() const override { return QAccessible::ListItem; }

  QString text(QAccessible::Text text) const override {
    if (text != QAccessible::Name || !isValid()) return {};
    return index_ == 0 ? d().spokenChoice() : d().pages.spokenName(index_ - 1);
  }
  QRect rect() const override {
    if (!isValid()) return {};
    return index_ == 0 ? d().choiceOnScreen()
                       : d().onScreen(d().pages.layers()[static_cast<size_t>(index_ - 1)].box);
  }
  QAccessible::State state() const override {
    QAccessible::State state;
    state.selectable = state.focusable = true;
    state.selected = state.focused = index_ == 0;
    return state;
  }

 private:
  const Private& d() const { return *view_->d_; }
  QPointer<GraphView> view_;
  int index_;
};

QAccessibleInterface* GraphView::Private::Access::child(int index) const {
  if (index < 0 || index >= childCount()) return nullptr;
  const auto [known, fresh] = parts_.try_emplace(index);
  if (fresh) known->second = QAccessible::registerAccessibleInterface(new AccessPart(view(), index));
  return QAccessible::accessibleInterface(known->second);
}

int GraphView::Private::Access::indexOfChild(const QAccessibleInterface* part) const {
  const auto* own = dynamic_cast<const AccessPart*>(part);
  return own ? own->index() : -1;
}

void GraphView::Private::makeAccess() {
  static const bool installed = [] {
    QAccessible::installFactory([](const QString&, QObject* object) -> QAccessibleInterface* {
      auto* view = qobject_cast<GraphView*>(object);
      return view ? new Access(view) : nullptr;
    });
    return true;
  }();
  Q_UNUSED(installed);
}

void GraphView::Private::speakChoice() const {
  if (!QAccessible::isActive() || selected.empty()) return;
  QAccessibleEvent event(q, QAccessible::Focus);
  event.setChild(0);
  QAccessible::updateAccessibility(&event);
}

}  // namespace orrery::ui
