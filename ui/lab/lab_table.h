// The table of a kernel's rows: a mark of what became of each, a sign where the machine was busy, a bar of
// its share of the limit; rows 24 high.
#pragma once

#include "ui/lab/lab_model.h"
#include "ui/widgets/row_table.h"

namespace orrery::ui {

class LabCells : public CellDelegate {
  Q_OBJECT
 public:
  using CellDelegate::CellDelegate;
  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;

 protected:
  void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override;
};

class LabTable : public RowTable {
  Q_OBJECT
 public:
  LabTable(const Theme& theme, LabModel* rows, QWidget* parent = nullptr);

 protected:
  void sizeColumns() override;
  void resizeEvent(QResizeEvent* event) override;
};

}  // namespace orrery::ui
