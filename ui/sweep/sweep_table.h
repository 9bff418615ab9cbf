// The places of a sweep: a swatch in the heat colour beside each distance, rows 24 high.
#pragma once

#include "ui/sweep/sweep_model.h"
#include "ui/widgets/row_table.h"

namespace orrery::ui {

class SweepCells : public CellDelegate {
  Q_OBJECT
 public:
  using CellDelegate::CellDelegate;

 protected:
  void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override;
};

class SweepTable : public RowTable {
  Q_OBJECT
 public:
  SweepTable(const Theme& theme, SweepModel* rows, QWidget* parent = nullptr);

 signals:
  void rowEntered(int row);  // by Enter

 protected:
  void keyPressEvent(QKeyEvent* event) override;
  void sizeColumns() override;
};

}  // namespace orrery::ui
