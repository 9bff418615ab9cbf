// A table whose rows are walked: one is chosen, by the keys, by a click, or by what is chosen elsewhere.
#pragma once

#include <QTableView>

#include "ui/widgets/themed.h"

namespace orrery::ui {

class RowTable : public QTableView, public Themed {
  Q_OBJECT
 public:
  /// Chooses a row of the model without telling it; -1: none.
  void choose(int row);
  void setTheme(const Theme& theme) override;

 signals:
  /// By the person, also the chosen one once more.
  void rowChosen(int row);

 protected:
  /// `wide`: the column that takes what the others leave; -1: none. `row`: px at body 13.
  RowTable(const Theme& theme, QAbstractItemModel* rows, double row, int wide, QWidget* parent);
  const Theme& theme() const { return theme_; }
  void sizeColumn(int column, double px);
  /// All of them, after a change of the theme.
  virtual void sizeColumns() = 0;

 private:
  Theme theme_;
  double row_;
  bool choosing_ = false;
};

/// The heat colour of a number, at the left of its cell. `heat`: 0 to 1.
void paintSwatch(QPainter& painter, const QRect& cell, const Theme& theme, double heat);

}  // namespace orrery::ui
