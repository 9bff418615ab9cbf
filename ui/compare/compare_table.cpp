#include "ui/compare/compare_table.h"

#include <algorithm>

#include "ui/theme/text_metrics.h"

namespace orrery::ui {
namespace {

constexpr double kShare = 0.42;  // of the page
constexpr int kLeast = 240, kMost = 400, kWithApart = 330;
constexpr double kTime = 60, kRatio = 50, kRow = 22;
constexpr int kCellMargins = 8;
const QChar kCut(0x2026);

}  // namespace

void NumberDelegate::initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const {
  QStyledItemDelegate::initStyleOption(option, index);
  option->font = font_;
}

/// Of "layers.12.attention.norm" in turn: whole, "12.attention.norm", "12…norm".
void PathDelegate::initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const {
  QStyledItemDelegate::initStyleOption(option, index);
  const double room = option->rect.width() - kCellMargins;
  if (textWidth(option->text, option->font) <= room) return;
  QStringList parts = option->text.split('.');
  if (parts.size() > 2) parts.removeFirst();
  const QString shorter = parts.join('.');
  option->text = parts.size() < 3 ? elided(shorter, option->font, room)
                                  : fitted(shorter, parts.first() + kCut + parts.last(), option->font, room);
}

CompareTable::CompareTable(const Theme& theme, CompareNodesModel* nodes, QWidget* parent)
    : RowTable(theme, nodes, kRow, CompareNodesModel::nodeColumn, parent),
      nodes_(nodes),
      numbers_(new NumberDelegate(theme, this)) {
  setAccessibleName("Nodes of both sides, the largest gain first");
  setItemDelegateForColumn(CompareNodesModel::nodeColumn, new PathDelegate(this));
  for (int column = CompareNodesModel::aColumn; column < CompareNodesModel::kColumns; ++column)
    setItemDelegateForColumn(column, numbers_);
  setPatched(false);
  sizeColumns();
  connect(this, &RowTable::rowChosen, this, [this](int row) { emit nodeAsked(nodes_->pathAt(row)); });
}

void CompareTable::sizeColumns() {
  for (int column = CompareNodesModel::aColumn; column < CompareNodesModel::kColumns; ++column)
    sizeColumn(column, column == CompareNodesModel::ratioColumn ? kRatio : kTime);
}

void CompareTable::fit(int pageWidth) {
  const int width = std::clamp(static_cast<int>(kShare * pageWidth), kLeast, kMost);
  setFixedWidth(width);
  setColumnHidden(CompareNodesModel::apartColumn, patched_ || width < kWithApart);
}

void CompareTable::setPatched(bool patched) {
  patched_ = patched;
  setColumnHidden(CompareNodesModel::goneColumn, !patched);
  setColumnHidden(CompareNodesModel::apartColumn, patched || width() < kWithApart);
}

void CompareTable::setTheme(const Theme& theme) {
  numbers_->setTheme(theme);
  RowTable::setTheme(theme);
}

}  // namespace orrery::ui
