// Cells of the table of classified texts: a bar beside the score, grey where the model is not sure.
#pragma once

#include <QStyledItemDelegate>

#include "ui/theme/theme.h"

namespace orrery::ui {

class ScoreDelegate : public QStyledItemDelegate {
  Q_OBJECT
 public:
  explicit ScoreDelegate(const Theme& theme, QObject* parent = nullptr)
      : QStyledItemDelegate(parent), theme_(theme) {}
  void setTheme(const Theme& theme) { theme_ = theme; }
  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;

 private:
  Theme theme_;
};

/// Under this the prediction is shown grey.
inline constexpr double kSureFrom = 0.75;

}  // namespace orrery::ui
