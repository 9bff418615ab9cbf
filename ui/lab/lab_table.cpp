#include "ui/lab/lab_table.h"

#include <QPainter>
#include <algorithm>

#include "ui/theme/icons.h"
#include "ui/widgets/meter.h"

namespace orrery::ui {
namespace {

constexpr double kRow = 24, kMark = 12, kMeter = 40, kMeterHeight = 5;
constexpr double kWidths[] = {26, 0, 68, 38, 60, 50, 94, 66, 58};  // px by column; the name has the rest
/// px of the table from which on a column has room beside the name.
constexpr std::pair<LabModel::Column, double> kRoom[] = {{LabModel::flopsColumn, 400},
                                                         {LabModel::spreadColumn, 440},
                                                         {LabModel::bytesColumn, 490},
                                                         {LabModel::errorColumn, 620},
                                                         {LabModel::allowedColumn, 620}};

}  // namespace

void LabCells::initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const {
  CellDelegate::initStyleOption(option, index);
  const auto mark = static_cast<LabMark>(index.data(LabModel::markRole).toInt());
  const bool dim = mark == LabMark::off || mark == LabMark::waiting;
  option->font = theme().monoFont(11);
  if (index.column() == LabModel::nameColumn) setIcon(*option, iconOf(mark), tokenOf(mark), kMark);
  if (mark == LabMark::wrong && index.column() == LabModel::errorColumn)
    option->palette.setColor(QPalette::Text, theme()(Token::error));
  else if (mark == LabMark::timing && index.column() == LabModel::timeColumn)
    option->palette.setColor(QPalette::Text, theme()(Token::accent));
  else if (dim || index.column() == LabModel::numberColumn)
    option->palette.setColor(QPalette::Text, theme()(Token::text3));
}

void LabCells::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
  CellDelegate::paint(painter, option, index);
  if (index.column() == LabModel::timeColumn && index.data(LabModel::busyRole).toBool()) {
    const double side = theme().scaled(kMark);
    paintIcon(*painter, u"warn",
              QRectF(option.rect.left() + 2, option.rect.center().y() + 1 - side / 2, side, side),
              theme()(Token::warn));
  }
  const double share = index.data(LabModel::shareRole).toDouble();
  if (index.column() != LabModel::shareColumn || share <= 0) return;
  const double height = theme().scaled(kMeterHeight);
  const QRectF bar(option.rect.left() + theme().scaled(8), option.rect.center().y() + 1 - height / 2,
                   theme().scaled(kMeter), height);
  const bool stored = static_cast<LabMark>(index.data(LabModel::markRole).toInt()) == LabMark::off;
  const auto token = stored ? Token::text3 : static_cast<Token>(index.data(LabModel::tokenRole).toInt());
  painter->save();
  painter->setRenderHint(QPainter::Antialiasing);
  paintMeter(*painter, bar, std::min(share, 1.0), theme()(token), theme());
  painter->restore();
}

LabTable::LabTable(const Theme& theme, LabModel* rows, QWidget* parent)
    : RowTable(theme, rows, kRow, LabModel::nameColumn, parent) {
  setAccessibleName("Rows of the kernel, slow to fast");
  setCells(new LabCells(theme));
  sizeColumns();
}

void LabTable::sizeColumns() {
  for (int column = 0; column < LabModel::kColumns; ++column)
    if (column != LabModel::nameColumn) sizeColumn(column, kWidths[column]);
}

void LabTable::resizeEvent(QResizeEvent* event) {
  RowTable::resizeEvent(event);
  for (const auto& [column, room] : kRoom) setColumnHidden(column, width() < theme().scaled(room));
}

}  // namespace orrery::ui
