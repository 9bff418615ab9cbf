#include "ui/sweep/sweep_table.h"

#include <QKeyEvent>
#include <QPainter>

namespace orrery::ui {
namespace {

constexpr double kRow = 24, kDistance = 92, kNumber = 62, kSpeed = 72;

}  // namespace

void SwatchDelegate::initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const {
  QStyledItemDelegate::initStyleOption(option, index);
  if (index.column() == SweepModel::placeColumn) return;
  option->font = theme_.monoFont(11);
  if (index.column() == SweepModel::distanceColumn && !index.data(SweepModel::kHeatRole).isValid())
    option->palette.setColor(QPalette::Text,
                             theme_(option->text == "measuring" ? Token::accent : Token::text3));
}

void SwatchDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option,
                           const QModelIndex& index) const {
  QStyledItemDelegate::paint(painter, option, index);
  const QVariant heat = index.data(SweepModel::kHeatRole);
  if (index.column() != SweepModel::distanceColumn || !heat.isValid()) return;
  paintSwatch(*painter, option.rect, theme_, heat.toDouble());
}

SweepTable::SweepTable(const Theme& theme, SweepModel* rows, QWidget* parent)
    : RowTable(theme, rows, kRow, SweepModel::placeColumn, parent),
      swatches_(new SwatchDelegate(theme, this)) {
  setAccessibleName("Places of the sweep, the least changed first");
  setItemDelegate(swatches_);
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

void SweepTable::setTheme(const Theme& theme) {
  swatches_->setTheme(theme);
  RowTable::setTheme(theme);
}

}  // namespace orrery::ui
