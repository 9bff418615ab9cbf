// A model takes two lines: the name and its state, then format, dtype and size. A recipe takes one, indented.
#pragma once

#include <QStyledItemDelegate>

#include "ui/theme/theme.h"

namespace orrery::ui {

class LibraryDelegate : public QStyledItemDelegate {
  Q_OBJECT
 public:
  LibraryDelegate(const Theme& theme, QObject* parent = nullptr)
      : QStyledItemDelegate(parent), theme_(theme) {}
  void setTheme(const Theme& theme) { theme_ = theme; }
  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;
  void updateEditorGeometry(QWidget* editor, const QStyleOptionViewItem& option,
                            const QModelIndex& index) const override;

 private:
  void paintModel(QPainter& painter, const QRectF& inner, bool selected, const QModelIndex& index) const;
  /// Below the model that it is for.
  void paintRecipe(QPainter& painter, const QRectF& inner, bool selected, const QModelIndex& index) const;
  /// A word and its mark at the right; where they begin.
  double paintState(QPainter& painter, const QRectF& line, const QString& state) const;

  Theme theme_;
};

}  // namespace orrery::ui
