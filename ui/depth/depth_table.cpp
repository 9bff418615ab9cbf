#include "ui/depth/depth_table.h"

#include <algorithm>

namespace orrery::ui {
namespace {

constexpr double kDepthRow = 24, kTokens = 66, kLeastNumber = 58, kMostNumber = 96;

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
  sizeColumns();
}

void DepthTable::resizeEvent(QResizeEvent* event) {
  RowTable::resizeEvent(event);
  sizeColumns();
}

/// All numbers have a column of the same width.
void DepthTable::sizeColumns() {
  const double room = viewport()->width() / theme().scaled(1) - kTokens;
  const int numbers = isColumnHidden(DepthModel::timeBesideColumn) ? 2 : 4;
  for (int column = DepthModel::timeColumn; column < DepthModel::kColumns; ++column)
    sizeColumn(column, std::clamp(room / numbers, kLeastNumber, kMostNumber));
}

}  // namespace orrery::ui
