// The depths of a run: numbers in columns, what is being read in the accent colour.
#pragma once

#include "ui/depth/depth_model.h"
#include "ui/widgets/row_table.h"

namespace orrery::ui {

class DepthCells : public CellDelegate {
  Q_OBJECT
 public:
  using CellDelegate::CellDelegate;

 protected:
  void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override;
};

class DepthTable : public RowTable {
  Q_OBJECT
 public:
  DepthTable(const Theme& theme, DepthModel* rows, QWidget* parent = nullptr);

  /// The columns of one curve, or of two.
  void setBeside(bool beside);

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void sizeColumns() override;
};

}  // namespace orrery::ui
