#include "ui/sweep/sweep_table.h"

#include <QHeaderView>
#include <QKeyEvent>
#include <QPainter>
#include <utility>

namespace orrery::ui {
namespace {

constexpr double kRow = 24, kDistance = 92, kNumber = 62, kSpeed = 72;
constexpr double kSwatchWidth = 17, kSwatchHeight = 9, kSwatchLeft = 6;

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
  const double width = theme_.scaled(kSwatchWidth), height = theme_.scaled(kSwatchHeight);
  const QRectF swatch(option.rect.left() + theme_.scaled(kSwatchLeft),
                      option.rect.center().y() + 1 - height / 2, width, height);
  painter->save();
  painter->setRenderHint(QPainter::Antialiasing);
  painter->setPen(QPen(theme_(Token::borderStrong), 1));
  painter->setBrush(theme_.heat(heat.toDouble()));
  painter->drawRoundedRect(swatch, 2, 2);
  painter->restore();
}

SweepTable::SweepTable(const Theme& theme, SweepModel* rows, QWidget* parent)
    : QTableView(parent), theme_(theme), rows_(rows), swatches_(new SwatchDelegate(theme, this)) {
  setModel(rows);
  setFrameShape(QFrame::NoFrame);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Ignored);
  setShowGrid(false);
  setWordWrap(false);
  setSelectionBehavior(SelectRows);
  setSelectionMode(SingleSelection);
  setVerticalScrollMode(ScrollPerPixel);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setTextElideMode(Qt::ElideMiddle);
  setTabKeyNavigation(false);
  setAccessibleName("Places of the sweep, the least changed first");
  setItemDelegate(swatches_);
  verticalHeader()->hide();
  horizontalHeader()->setHighlightSections(false);
  horizontalHeader()->setMinimumSectionSize(40);
  horizontalHeader()->setSectionResizeMode(QHeaderView::Fixed);
  horizontalHeader()->setSectionResizeMode(SweepModel::placeColumn, QHeaderView::Stretch);
  sizeColumns();
  const auto tell = [this](const QModelIndex& index) {
    if (index.isValid() && !choosing_) emit rowChosen(index.row());
  };
  connect(selectionModel(), &QItemSelectionModel::currentRowChanged, this, tell);
  connect(this, &QAbstractItemView::clicked, this, tell);
}

void SweepTable::keyPressEvent(QKeyEvent* event) {
  const bool enter = event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter;
  if (!enter || !currentIndex().isValid()) return QTableView::keyPressEvent(event);
  emit rowEntered(currentIndex().row());
}

void SweepTable::choose(int row) {
  const bool before = std::exchange(choosing_, true);
  row < 0 ? clearSelection() : selectRow(row);
  choosing_ = before;
}

void SweepTable::sizeColumns() {
  verticalHeader()->setDefaultSectionSize(static_cast<int>(theme_.scaled(kRow)));
  for (int column = SweepModel::distanceColumn; column < SweepModel::kColumns; ++column)
    horizontalHeader()->resizeSection(
        column, static_cast<int>(theme_.scaled(column == SweepModel::distanceColumn ? kDistance
                                               : column == SweepModel::speedColumn  ? kSpeed
                                                                                    : kNumber)));
}

void SweepTable::setTheme(const Theme& theme) {
  theme_ = theme;
  swatches_->setTheme(theme);
  sizeColumns();
  viewport()->update();
}

}  // namespace orrery::ui
