#include "ui/sweep/sweep_table.h"

#include <QKeyEvent>

namespace orrery::ui {
namespace {

constexpr double kRow = 24, kDistance = 92, kNumber = 62, kSpeed = 72;

}  // namespace

void SweepCells::initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const {
  CellDelegate::initStyleOption(option, index);
  if (index.column() == SweepModel::placeColumn) return;
  option->font = theme().monoFont(11);
  if (index.column() == SweepModel::distanceColumn && !index.data(SweepModel::kHeatRole).isValid())
    option->palette.setColor(QPalette::Text,
                             theme()(option->text == "measuring" ? Token::accent : Token::text3));
}

SweepTable::SweepTable(const Theme& theme, SweepModel* rows, QWidget* parent)
    : RowTable(theme, rows, kRow, SweepModel::placeColumn, parent) {
  setAccessibleName("Places of the sweep, the least changed first");
  setCells(new SweepCells(theme, SweepModel::distanceColumn, SweepModel::kHeatRole));
  sizeColumns();
}

void SweepTable::keyPressEvent(QKeyEvent* event) {
  const bool enter = event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter;
  if (!enter || !currentIndex().isValid()) return QTableView::keyPressEvent(event);
  emit rowEntered(currentIndex().row());
}

void SweepTable::sizeColumns() {
  for (int column = SweepModel::distanceColumn; column < SweepModel::kColumns; ++column)
    sizeColumn(column, column == SweepModel::distanceColumn ? kDistance
                       : column == SweepModel::speedColumn  ? kSpeed
                                                            : kNumber);
}

}  // namespace orrery::ui
