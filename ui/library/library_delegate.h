// Two lines a model: the name and its state, then format, dtype and size. One line a recipe, below its model.
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

 private:
  void paintRecipe(QPainter& painter, const QStyleOptionViewItem& option, const QModelIndex& index) const;

  Theme theme_;
};

}  // namespace orrery::ui
