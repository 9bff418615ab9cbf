// The differences of two models: each row on the ground of its kind with its mark, a swatch in the heat
// colour beside each distance, rows 24 high. A click on a header sorts.
#pragma once

#include "ui/diff/diff_model.h"
#include "ui/widgets/row_table.h"

namespace orrery::ui {

class DiffCells : public CellDelegate {
  Q_OBJECT
 public:
  using CellDelegate::CellDelegate;
  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;

 protected:
  void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override;
};

class DiffTable : public RowTable {
  Q_OBJECT
 public:
  DiffTable(const Theme& theme, DiffFilter* rows, QWidget* parent = nullptr);
  /// A row of the unfiltered model, without telling it; -1: none.
  void chooseDifference(int row);
  /// The next row that is shown, or the one before; at an end the other end. And tells it.
  void step(int by);
  void setTimed(bool timed);

 signals:
  void pathChosen(const QString& path);

 protected:
  void sizeColumns() override;

 private:
  DiffFilter* rows_;
};

}  // namespace orrery::ui
