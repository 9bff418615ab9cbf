#include "ui/diff/diff_table.h"

#include <QHeaderView>
#include <QPainter>
#include <utility>

#include "ui/theme/icons.h"

namespace orrery::ui {
namespace {

constexpr double kRow = 24, kNode = 250, kDistance = 92, kTime = 66, kMark = 11;
constexpr double kSwatchWidth = 17, kSwatchHeight = 9, kSwatchLeft = 6;

struct KindLook {
  const char* icon;
  Token ground, color;
};

KindLook lookOf(DiffModel::Kind kind) {
  switch (kind) {
    case DiffModel::Kind::added:
      return {"plus", Token::okBg, Token::ok};
    case DiffModel::Kind::removed:
      return {"minus", Token::errorBg, Token::error};
    case DiffModel::Kind::changed:
      break;
  }
  return {"pencil", Token::editedBg, Token::edited};
}

KindLook lookOf(const QModelIndex& index) {
  return lookOf(static_cast<DiffModel::Kind>(index.data(DiffModel::kKindRole).toInt()));
}

}  // namespace

void DifferenceDelegate::initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const {
  QStyledItemDelegate::initStyleOption(option, index);
  const KindLook look = lookOf(index);
  if (index.column() == DiffModel::nodeColumn) {
    option->icon = icon(QString(look.icon), theme_, look.color);
    option->features |= QStyleOptionViewItem::HasDecoration;
    option->decorationSize =
        QSize(static_cast<int>(theme_.scaled(kMark)), static_cast<int>(theme_.scaled(kMark)));
    option->font.setStrikeOut(look.ground == Token::errorBg);
  } else if (index.column() == DiffModel::whatColumn) {
    option->palette.setColor(QPalette::Text, theme_(Token::text2));
  } else {
    option->font = theme_.monoFont(11);
  }
}

void DifferenceDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option,
                               const QModelIndex& index) const {
  if (index.column() == DiffModel::nodeColumn && !(option.state & QStyle::State_Selected))
    painter->fillRect(option.rect, theme_(lookOf(index).ground));
  QStyledItemDelegate::paint(painter, option, index);
  const QVariant heat = index.data(DiffModel::kHeatRole);
  if (index.column() != DiffModel::distanceColumn || !heat.isValid()) return;
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

DiffTable::DiffTable(const Theme& theme, DiffFilter* rows, QWidget* parent)
    : QTableView(parent), theme_(theme), rows_(rows), looks_(new DifferenceDelegate(theme, this)) {
  setModel(rows);
  setFrameShape(QFrame::NoFrame);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Ignored);  // as high as the page
  setShowGrid(false);
  setWordWrap(false);
  setSelectionBehavior(SelectRows);
  setSelectionMode(SingleSelection);
  setVerticalScrollMode(ScrollPerPixel);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setTextElideMode(Qt::ElideMiddle);
  setTabKeyNavigation(false);
  setAccessibleName("What the two models have otherwise");
  setItemDelegate(looks_);
  setSortingEnabled(true);
  sortByColumn(DiffModel::nodeColumn, Qt::AscendingOrder);
  verticalHeader()->hide();
  horizontalHeader()->setHighlightSections(false);
  horizontalHeader()->setMinimumSectionSize(40);
  horizontalHeader()->setSectionResizeMode(QHeaderView::Interactive);
  horizontalHeader()->setSectionResizeMode(DiffModel::whatColumn, QHeaderView::Stretch);
  sizeColumns();
  setTimed(false);
  const auto tell = [this](const QModelIndex& index) {
    if (index.isValid() && !choosing_)
      emit pathChosen(index.siblingAtColumn(DiffModel::nodeColumn).data().toString());
  };
  connect(selectionModel(), &QItemSelectionModel::currentRowChanged, this, tell);
  connect(this, &QAbstractItemView::clicked, this, tell);  // the current row once more
}

void DiffTable::choose(int row) {
  const bool before = std::exchange(choosing_, true);
  const QModelIndex shown = rows_->mapFromSource(rows_->sourceModel()->index(row, DiffModel::nodeColumn));
  if (shown.isValid())
    selectRow(shown.row());
  else
    clearSelection();
  choosing_ = before;
}

void DiffTable::step(int by) {
  const int count = rows_->rowCount();
  if (count == 0) return;
  const QModelIndexList chosen = selectionModel()->selectedRows();
  const int from = chosen.isEmpty() ? (by > 0 ? -1 : count) : chosen.first().row();
  selectRow((from + by + count) % count);
}

void DiffTable::setTimed(bool timed) {
  setColumnHidden(DiffModel::aColumn, !timed);
  setColumnHidden(DiffModel::bColumn, !timed);
}

void DiffTable::sizeColumns() {
  verticalHeader()->setDefaultSectionSize(static_cast<int>(theme_.scaled(kRow)));
  const auto size = [this](int column, double width) {
    horizontalHeader()->resizeSection(column, static_cast<int>(theme_.scaled(width)));
  };
  size(DiffModel::nodeColumn, kNode);
  size(DiffModel::distanceColumn, kDistance);
  size(DiffModel::aColumn, kTime);
  size(DiffModel::bColumn, kTime);
}

void DiffTable::setTheme(const Theme& theme) {
  theme_ = theme;
  looks_->setTheme(theme);
  sizeColumns();
  viewport()->update();
}

}  // namespace orrery::ui
