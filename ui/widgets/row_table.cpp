#include "ui/widgets/row_table.h"

#include <QHeaderView>
#include <QPainter>
#include <utility>

#include "ui/theme/icons.h"

namespace orrery::ui {
namespace {

constexpr int kLeastColumn = 40;                                         // px
constexpr double kSwatchWidth = 17, kSwatchHeight = 9, kSwatchLeft = 6;  // px at body 13

/// The heat colour of a number, at the left of its cell.
void paintSwatch(QPainter& painter, const QRect& cell, const Theme& theme, double heat) {
  const double width = theme.scaled(kSwatchWidth), height = theme.scaled(kSwatchHeight);
  const QRectF swatch(cell.left() + theme.scaled(kSwatchLeft), cell.center().y() + 1 - height / 2, width,
                      height);
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(theme(Token::borderStrong), 1));
  painter.setBrush(theme.heat(heat));
  painter.drawRoundedRect(swatch, 2, 2);
  painter.restore();
}

}  // namespace

void CellDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option,
                         const QModelIndex& index) const {
  QStyledItemDelegate::paint(painter, option, index);
  if (index.column() != heat_) return;
  if (const QVariant heat = index.data(heatRole_); heat.isValid())
    paintSwatch(*painter, option.rect, theme_, heat.toDouble());
}

/// Its place is kept where there is no icon of that name.
void CellDelegate::setIcon(QStyleOptionViewItem& option, const QString& name, Token token, double px) const {
  const int side = qRound(theme_.scaled(px));
  option.features |= QStyleOptionViewItem::HasDecoration;
  option.decorationSize = QSize(side, side);
  if (!name.isEmpty()) option.icon = icon(name, theme_, token);
}

RowTable::RowTable(const Theme& theme, QAbstractItemModel* rows, double row, int wide, QWidget* parent)
    : QTableView(parent), theme_(theme), row_(row) {
  setModel(rows);
  setFrameShape(QFrame::NoFrame);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Ignored);  // as high as the page
  setShowGrid(false);
  setWordWrap(false);
  setSelectionBehavior(SelectRows);
  setSelectionMode(SingleSelection);
  setVerticalScrollMode(ScrollPerPixel);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setTextElideMode(Qt::ElideMiddle);  // layer and part stay readable
  setTabKeyNavigation(false);
  verticalHeader()->hide();
  verticalHeader()->setDefaultSectionSize(static_cast<int>(theme.scaled(row)));
  horizontalHeader()->setHighlightSections(false);
  horizontalHeader()->setMinimumSectionSize(kLeastColumn);
  horizontalHeader()->setSectionResizeMode(QHeaderView::Fixed);
  if (wide >= 0) horizontalHeader()->setSectionResizeMode(wide, QHeaderView::Stretch);
  const auto tell = [this](const QModelIndex& index) {
    if (index.isValid() && !choosing_) emit rowChosen(index.row());
  };
  connect(selectionModel(), &QItemSelectionModel::currentRowChanged, this, tell);
  connect(this, &QAbstractItemView::clicked, this, tell);
}

void RowTable::choose(int row) {
  const bool before = std::exchange(choosing_, true);
  row < 0 ? clearSelection() : selectRow(row);
  choosing_ = before;
}

void RowTable::sizeColumn(int column, double px) {
  horizontalHeader()->resizeSection(column, static_cast<int>(theme_.scaled(px)));
}

void RowTable::setCells(CellDelegate* cells) {
  cells->setParent(this);
  cells_ = cells;
  setItemDelegate(cells);
}

void RowTable::setTheme(const Theme& theme) {
  theme_ = theme;
  if (cells_) cells_->setTheme(theme);
  verticalHeader()->setDefaultSectionSize(static_cast<int>(theme.scaled(row_)));
  sizeColumns();
  viewport()->update();
}

}  // namespace orrery::ui
