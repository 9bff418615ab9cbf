// The graph as a tree of scopes with time and share of the parent.
#pragma once

#include <QHeaderView>
#include <QStyledItemDelegate>
#include <QTimer>
#include <QTreeView>
#include <QWidget>

#include "ui/graph/graph_view.h"
#include "ui/models/outline_model.h"
#include "ui/session/session_controller.h"
#include "ui/widgets/themed.h"

namespace orrery::ui {

class OutlineDelegate : public QStyledItemDelegate {
  Q_OBJECT
 public:
  OutlineDelegate(const Theme& theme, QObject* parent) : QStyledItemDelegate(parent), theme_(theme) {}
  void setTheme(const Theme& theme) { theme_ = theme; }
  /// What a row's name takes without being shortened, its marks included.
  double nameWidth(const QModelIndex& index) const;
  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;

 private:
  QFont nameFont(const QModelIndex& index) const;
  double markRoom(const QModelIndex& index) const;
  double deviceRoom(const QModelIndex& index) const;
  void paintName(QPainter& painter, const QRectF& area, const QModelIndex& index, bool selected) const;
  void paintDevice(QPainter& painter, const QRectF& area, const QModelIndex& index) const;
  void paintTime(QPainter& painter, const QRectF& area, const QModelIndex& index, bool selected) const;
  void paintShare(QPainter& painter, const QRectF& area, const QModelIndex& index) const;
  void paintRatio(QPainter& painter, const QRectF& area, const QModelIndex& index, bool selected) const;
  Theme theme_;
};

/// Names a column as briefly as its width wants it.
class OutlineHeader : public QHeaderView {
  Q_OBJECT
 public:
  explicit OutlineHeader(QWidget* parent) : QHeaderView(Qt::Horizontal, parent) {}

 protected:
  void initStyleOptionForIndex(QStyleOptionHeader* option, int section) const override;
};

/// A tree whose branches are our chevrons and hairlines.
class OutlineTree : public QTreeView {
  Q_OBJECT
 public:
  explicit OutlineTree(const Theme& theme, QWidget* parent = nullptr);
  void setTheme(const Theme& theme);

 protected:
  void drawBranches(QPainter* painter, const QRect& rect, const QModelIndex& index) const override;
  void drawRow(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override;
  void resizeEvent(QResizeEvent* event) override;

 signals:
  void resized();

 private:
  Theme theme_;
};

class OutlinePanel : public QWidget, public Themed {
  Q_OBJECT
 public:
  OutlinePanel(const Theme& theme, QWidget* parent = nullptr);

  OutlineModel* model() const { return model_; }
  QTreeView* tree() const { return tree_; }
  void setGraph(const graph::GraphVersion& graph, const std::unordered_set<NodeId>& edited,
                const QString& name);
  void setTimings(Figures figures) { model_->setTimings(std::move(figures)); }
  void setPlaces(const Places& places) { model_->setPlaces(places); }
  /// The chosen rows; the current one last.
  std::vector<GraphView::Selected> selection() const;
  /// Two columns of times and their ratio instead of time and share; none: back.
  void setSides(const std::optional<SideLooks>& sides);
  void select(NodeId node);
  void selectScope(const QString& scope);
  void setTheme(const Theme& theme) override;

 signals:
  void nodeChosen(orrery::NodeId node);
  void scopeChosen(const QString& scope);
  void menuAsked(const QPoint& globalPos);
  void shown();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void showEvent(QShowEvent* event) override;

 private:
  void selectIndex(const QModelIndex& index);
  double widestName(double indentation) const;
  void sizeColumns();

  Theme theme_;
  OutlineModel* model_;
  OutlineDelegate* delegate_;
  OutlineTree* tree_;
  QTimer sizeSoon_;         // columns, after what is shown has changed
  bool following_ = false;  // the selection comes from outside
};

}  // namespace orrery::ui
