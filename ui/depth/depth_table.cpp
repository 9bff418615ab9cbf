#include "ui/depth/depth_table.h"

namespace orrery::ui {
namespace {

constexpr double kDepthRow = 24, kDepthNumber = 76;

}  // namespace

void DepthCells::initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const {
  CellDelegate::initStyleOption(option, index);
  option->font = theme().monoFont(11);
  if (index.data(DepthModel::kLiveRole).toBool())
    option->palette.setColor(QPalette::Text, theme()(Token::accent));
}

DepthTable::DepthTable(const Theme& theme, DepthModel* rows, QWidget* parent)
    : RowTable(theme, rows, kDepthRow, DepthModel::tokensColumn, parent) {
  setAccessibleName("What was measured, depth by depth");
  setCells(new DepthCells(theme));
  sizeColumns();
}

void DepthTable::setBeside(bool beside) {
  setColumnHidden(DepthModel::timeBesideColumn, !beside);
  setColumnHidden(DepthModel::bytesBesideColumn, !beside);
}

void DepthTable::sizeColumns() {
  for (int column = DepthModel::timeColumn; column < DepthModel::kColumns; ++column)
    sizeColumn(column, kDepthNumber);
}

}  // namespace orrery::ui
