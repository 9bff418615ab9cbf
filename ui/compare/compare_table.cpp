#include "ui/compare/compare_table.h"

#include <QHeaderView>
#include <algorithm>

namespace orrery::ui {
namespace {

constexpr double kShare = 0.42;  // of the page
constexpr int kLeast = 240, kMost = 400, kWithApart = 330;
constexpr double kTime = 60, kRatio = 50, kRow = 22;

}  // namespace

void NumberDelegate::initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const {
  QStyledItemDelegate::initStyleOption(option, index);
  option->font = font_;
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
  for (int column = CompareNodesModel::aColumn; column < CompareNodesModel::kColumns; ++column)
    setItemDelegateForColumn(column, numbers_);
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
  setColumnHidden(CompareNodesModel::apartColumn, width < kWithApart);
}

void CompareTable::setTheme(const Theme& theme) {
  theme_ = theme;
  numbers_->setTheme(theme);
  sizeColumns();
  viewport()->update();
}

}  // namespace orrery::ui
