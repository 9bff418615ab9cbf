#include "ui/compare/compare_table.h"

#include <QHeaderView>
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
    : QTableView(parent), theme_(theme), nodes_(nodes), numbers_(new NumberDelegate(theme, this)) {
  setModel(nodes);
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
  setAccessibleName("Nodes of both sides, the largest gain first");
  verticalHeader()->hide();
  horizontalHeader()->setHighlightSections(false);
  horizontalHeader()->setMinimumSectionSize(40);
  horizontalHeader()->setSectionResizeMode(QHeaderView::Fixed);
  horizontalHeader()->setSectionResizeMode(CompareNodesModel::nodeColumn, QHeaderView::Stretch);
  setItemDelegateForColumn(CompareNodesModel::nodeColumn, new PathDelegate(this));
  for (int column = CompareNodesModel::aColumn; column < CompareNodesModel::kColumns; ++column)
    setItemDelegateForColumn(column, numbers_);
  setPatched(false);
  sizeColumns();
  const auto ask = [this](const QModelIndex& index) {
    if (index.isValid()) emit nodeAsked(nodes_->pathAt(index.row()));
  };
  connect(selectionModel(), &QItemSelectionModel::currentRowChanged, this, ask);
  connect(this, &QAbstractItemView::clicked, this, ask);  // the current row once more
}

void CompareTable::sizeColumns() {
  verticalHeader()->setDefaultSectionSize(static_cast<int>(theme_.scaled(kRow)));
  for (int column = CompareNodesModel::aColumn; column < CompareNodesModel::kColumns; ++column)
    horizontalHeader()->resizeSection(
        column, static_cast<int>(theme_.scaled(column == CompareNodesModel::ratioColumn ? kRatio : kTime)));
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
  theme_ = theme;
  numbers_->setTheme(theme);
  sizeColumns();
  viewport()->update();
}

}  // namespace orrery::ui
