// A table whose rows are walked: one is chosen, by the keys, by a click, or by what is chosen elsewhere.
#pragma once

#include <QStyledItemDelegate>
#include <QTableView>

#include "ui/widgets/themed.h"

namespace orrery::ui {

/// Cells of such a table in the theme's look: each sets fonts and colours; one column may have a swatch in
/// the heat colour beside its numbers.
class CellDelegate : public QStyledItemDelegate {
  Q_OBJECT
 public:
  /// `heat`: the column with swatches, whose model tells 0 to 1 by `heatRole`; -1: none.
  explicit CellDelegate(const Theme& theme, int heat = -1, int heatRole = 0)
      : theme_(theme), heat_(heat), heatRole_(heatRole) {}
  void setTheme(const Theme& theme) { theme_ = theme; }
  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;

 protected:
  const Theme& theme() const { return theme_; }
  void setIcon(QStyleOptionViewItem& option, const QString& name, Token token, double px) const;

 private:
  Theme theme_;
  int heat_, heatRole_;
};

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
  /// How all cells look; the table's own from here on.
  void setCells(CellDelegate* cells);
  void sizeColumn(int column, double px);
  /// All of them, after a change of the theme.
  virtual void sizeColumns() = 0;

 private:
  Theme theme_;
  CellDelegate* cells_ = nullptr;
  double row_;
  bool choosing_ = false;
};

}  // namespace orrery::ui
