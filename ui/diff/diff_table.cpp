#include "ui/diff/diff_table.h"

#include <QHeaderView>
#include <QPainter>

namespace orrery::ui {
namespace {

constexpr double kRow = 24, kNode = 250, kDistance = 92, kTime = 66, kMark = 11;

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

void DiffCells::initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const {
  CellDelegate::initStyleOption(option, index);
  const KindLook look = lookOf(index);
  if (index.column() == DiffModel::nodeColumn) {
    setIcon(*option, QString(look.icon), look.color, kMark);
    option->font.setStrikeOut(look.ground == Token::errorBg);
  } else if (index.column() == DiffModel::whatColumn) {
    option->palette.setColor(QPalette::Text, theme()(Token::text2));
  } else {
    option->font = theme().monoFont(11);
  }
}

void DiffCells::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
  if (index.column() == DiffModel::nodeColumn && !(option.state & QStyle::State_Selected))
    painter->fillRect(option.rect, theme()(lookOf(index).ground));
  CellDelegate::paint(painter, option, index);
}

DiffTable::DiffTable(const Theme& theme, DiffFilter* rows, QWidget* parent)
    : RowTable(theme, rows, kRow, -1, parent), rows_(rows) {
  setAccessibleName("How the two models differ");
  setCells(new DiffCells(theme, DiffModel::distanceColumn, DiffModel::kHeatRole));
  setSortingEnabled(true);
  sortByColumn(DiffModel::nodeColumn, Qt::AscendingOrder);
  horizontalHeader()->setSectionResizeMode(QHeaderView::Interactive);
  horizontalHeader()->setSectionResizeMode(DiffModel::whatColumn, QHeaderView::Stretch);
  sizeColumns();
  setTimed(false);
  connect(this, &RowTable::rowChosen, this,
          [this](int row) { emit pathChosen(rows_->index(row, DiffModel::nodeColumn).data().toString()); });
}

void DiffTable::chooseDifference(int row) {
  choose(rows_->mapFromSource(rows_->sourceModel()->index(row, DiffModel::nodeColumn)).row());
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
  sizeColumn(DiffModel::nodeColumn, kNode);
  sizeColumn(DiffModel::distanceColumn, kDistance);
  sizeColumn(DiffModel::aColumn, kTime);
  sizeColumn(DiffModel::bColumn, kTime);
}

}  // namespace orrery::ui
