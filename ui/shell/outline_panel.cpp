#include "ui/shell/outline_panel.h"

#include <QPaintEvent>
#include <QPainter>
#include <QVBoxLayout>
#include <cmath>

#include "ui/graph/device_mark.h"
#include "ui/theme/format.h"
#include "ui/theme/icons.h"
#include "ui/theme/text_metrics.h"
#include "ui/widgets/meter.h"

namespace orrery::ui {
namespace {

constexpr double kRowHeight = 22.6, kTime = 70, kShortTime = 53;  // "≈ 1.37 ms", "≈1.4 ms"
constexpr double kIndent = 14, kLeastIndent = 8;
constexpr double kShare = 64, kLeastShare = 30;   // a bar
constexpr double kRatio = 66, kRatioNumber = 38;  // a bar and a number; the number alone
constexpr double kRatioBar = 12;                  // a shorter one tells nothing
constexpr int kBefore = 3, kAfter = 6;            // a cell's words

}  // namespace

QSize OutlineDelegate::sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const {
  return {40, static_cast<int>(std::lround(theme_.scaled(kRowHeight)))};
}

QFont OutlineDelegate::nameFont(const QModelIndex& index) const {
  const bool scope = index.data(OutlineModel::nodeRole).toUInt() == 0;
  return theme_.textFont(12, scope ? QFont::Medium : QFont::Normal);
}

double OutlineDelegate::markRoom(const QModelIndex& index) const {
  const bool marked =
      index.data(OutlineModel::fusedRole).toInt() > 1 || index.data(OutlineModel::editedRole).toBool();
  return marked ? theme_.scaled(16) : 0;
}

double OutlineDelegate::deviceRoom(const QModelIndex& index) const {
  const bool home =
      static_cast<DeviceMark>(index.data(OutlineModel::deviceRole).toInt()) == DeviceMark::none &&
      !index.data(OutlineModel::fellBackRole).toBool();
  return home ? 0 : theme_.scaled(18);
}

double OutlineDelegate::nameWidth(const QModelIndex& index) const {
  return std::ceil(textWidth(index.data().toString(), nameFont(index))) + markRoom(index) +
         deviceRoom(index) + kBefore + kAfter;
}

void OutlineDelegate::paintName(QPainter& painter, const QRectF& area, const QModelIndex& index,
                                bool selected) const {
  const bool bypassed = index.data(OutlineModel::bypassedRole).toBool(),
             edited = index.data(OutlineModel::editedRole).toBool();
  const QFont font = nameFont(index);
  const double mark = markRoom(index);
  paintDevice(painter, area, index);
  const QString name = elided(index.data().toString(), font, area.width() - mark - deviceRoom(index));
  painter.setFont(font);
  painter.setPen(theme_(bypassed ? Token::text3 : selected ? Token::selectionText : Token::text));
  painter.drawText(area, Qt::AlignVCenter | Qt::AlignLeft, name);
  if (mark <= 0) return;
  const double size = theme_.scaled(11), x = area.left() + textWidth(name, font) + 5;
  paintIcon(painter, edited ? u"pencil" : u"fuse", QRectF(x, area.center().y() - size / 2, size, size),
            theme_(edited ? Token::edited : Token::text3));
}

/// At the right of the name: what runs elsewhere; what does not run where it was asked to has a dashed ring.
void OutlineDelegate::paintDevice(QPainter& painter, const QRectF& area, const QModelIndex& index) const {
  const double room = deviceRoom(index);
  if (room <= 0) return;
  const QPointF centre(area.right() - room / 2, area.center().y());
  painter.setRenderHint(QPainter::Antialiasing);
  paintDeviceMark(painter, static_cast<DeviceMark>(index.data(OutlineModel::deviceRole).toInt()), centre,
                  theme_.scaled(7), theme_);
  if (!index.data(OutlineModel::fellBackRole).toBool()) return;
  const double half = theme_.scaled(6.5);
  painter.setPen(QPen(theme_(Token::warn), 1.5, Qt::DotLine));
  painter.setBrush(Qt::NoBrush);
  painter.drawRoundedRect(QRectF(centre.x() - half, centre.y() - half, 2 * half, 2 * half), 3, 3);
}

void OutlineDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option,
                            const QModelIndex& index) const {
  painter->save();
  const bool selected = option.state & QStyle::State_Selected;
  const QRectF area = QRectF(option.rect).adjusted(kBefore, 0, -kAfter, 0);
  if (index.column() == OutlineModel::nameColumn) {
    paintName(*painter, area, index, selected);
  } else if (index.column() != OutlineModel::shareColumn) {
    paintTime(*painter, area, index, selected);
  } else if (index.data(OutlineModel::ratioRole).toBool()) {
    paintRatio(*painter, area, index, selected);
  } else {
    paintShare(*painter, area, index);
  }
  painter->restore();
}

void OutlineDelegate::paintTime(QPainter& painter, const QRectF& area, const QModelIndex& index,
                                bool selected) const {
  const QFont font = theme_.monoFont(11);
  const QString time = index.data().toString();
  painter.setFont(font);
  painter.setPen(theme_(selected ? Token::selectionText : Token::text2));
  painter.drawText(
      area, Qt::AlignVCenter | Qt::AlignRight,
      textWidth(time, font) <= area.width() ? time : index.data(OutlineModel::briefRole).toString());
}

void OutlineDelegate::paintShare(QPainter& painter, const QRectF& area, const QModelIndex& index) const {
  const double share = index.data(OutlineModel::shareRole).toDouble(),
               heat = index.data(OutlineModel::heatRole).toDouble();
  const QRectF bar(area.left() + 6, area.center().y() - 2.5, area.width() - 6, 5);
  const QColor fill = std::isfinite(heat) ? theme_.heat(heat) : theme_(Token::text3);
  paintMeter(painter, bar, std::isfinite(share) ? share : 0, fill, theme_);
}

/// A bar from the middle towards the faster side where there is room for it, and the number.
void OutlineDelegate::paintRatio(QPainter& painter, const QRectF& area, const QModelIndex& index,
                                 bool selected) const {
  const double number = theme_.scaled(kRatioNumber), heat = index.data(OutlineModel::heatRole).toDouble();
  const QRectF bar(area.left() + 2, area.center().y() - 2.5, area.width() - number - 2, 5);
  if (bar.width() >= kRatioBar) {
    paintMeter(painter, bar, 0, {}, theme_);
    if (std::isfinite(heat)) {
      const double x = bar.left() + bar.width() * heat, middle = bar.center().x();
      painter.fillRect(QRectF(std::min(x, middle), bar.top(), std::abs(x - middle), bar.height()),
                       theme_.ratio(heat < 0.5 ? -4 : 4));
    }
    painter.fillRect(QRectF(bar.center().x() - 0.5, bar.top() - 2, 1, bar.height() + 4),
                     theme_(Token::text3));
  }
  painter.setFont(theme_.monoFont(11));
  painter.setPen(theme_(selected ? Token::selectionText : Token::text2));
  painter.drawText(area, Qt::AlignVCenter | Qt::AlignRight, index.data().toString());
}

void OutlineHeader::initStyleOptionForIndex(QStyleOptionHeader* option, int section) const {
  constexpr int kPadding = 16;
  QHeaderView::initStyleOptionForIndex(option, section);
  const auto fits = [&](const QString& text) {
    return option->fontMetrics.horizontalAdvance(text) + kPadding <= sectionSize(section);
  };
  if (fits(option->text)) return;
  const QString brief = model()->headerData(section, Qt::Horizontal, OutlineModel::briefRole).toString();
  option->text = fits(brief) ? brief : QString();
}

OutlineTree::OutlineTree(const Theme& theme, QWidget* parent) : QTreeView(parent), theme_(theme) {
  setFrameShape(QFrame::NoFrame);
  setUniformRowHeights(true);
  setMouseTracking(true);
  setIndentation(static_cast<int>(theme.scaled(kIndent)));
  setVerticalScrollMode(ScrollPerPixel);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setAccessibleName("Outline");
  setExpandsOnDoubleClick(true);
  setAnimated(false);
}

void OutlineTree::setTheme(const Theme& theme) {
  theme_ = theme;
  viewport()->update();
}

void OutlineTree::drawRow(QPainter* painter, const QStyleOptionViewItem& option,
                          const QModelIndex& index) const {
  const bool selected = selectionModel() && selectionModel()->isSelected(index);
  if (selected) {
    painter->fillRect(option.rect, theme_(Token::selectionBg));
    painter->fillRect(QRect(0, option.rect.top(), 3, option.rect.height()), theme_(Token::accent));
  } else if (option.state & QStyle::State_MouseOver) {
    painter->fillRect(option.rect, theme_(Token::hover));
  }
  QTreeView::drawRow(painter, option, index);
}

void OutlineTree::drawBranches(QPainter* painter, const QRect& rect, const QModelIndex& index) const {
  painter->fillRect(
      rect, selectionModel()->isSelected(index) ? theme_(Token::selectionBg) : QColor(Qt::transparent));
  if (!model()->hasChildren(index)) return;
  const double size = theme_.scaled(11);
  const QRectF place(std::max(0.0, rect.right() - theme_.scaled(kIndent) + 2),
                     rect.center().y() - size / 2 + 0.5, size, size);
  paintIcon(*painter, isExpanded(index) ? u"down" : u"right", place, theme_(Token::text3));
}

void OutlineTree::resizeEvent(QResizeEvent* event) {
  QTreeView::resizeEvent(event);
  emit resized();
}

OutlinePanel::OutlinePanel(const Theme& theme, QWidget* parent)
    : QWidget(parent),
      theme_(theme),
      model_(new OutlineModel(this)),
      delegate_(new OutlineDelegate(theme, this)),
      tree_(new OutlineTree(theme, this)) {
  tree_->setModel(model_);
  tree_->setItemDelegate(delegate_);
  tree_->setAllColumnsShowFocus(true);
  tree_->setSelectionMode(QAbstractItemView::ExtendedSelection);
  tree_->setContextMenuPolicy(Qt::CustomContextMenu);
  connect(tree_, &QWidget::customContextMenuRequested, this,
          [this](const QPoint& at) { emit menuAsked(tree_->viewport()->mapToGlobal(at)); });
  auto* header = new OutlineHeader(tree_);
  tree_->setHeader(header);
  header->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
  header->setStretchLastSection(false);
  header->setMinimumSectionSize(20);
  header->setSectionResizeMode(OutlineModel::nameColumn, QHeaderView::Stretch);
  for (int column = OutlineModel::timeColumn; column < OutlineModel::columns; ++column)
    header->setSectionResizeMode(column, QHeaderView::Fixed);
  sizeColumns();
  sizeSoon_.setSingleShot(true);
  sizeSoon_.setInterval(0);
  connect(&sizeSoon_, &QTimer::timeout, this, &OutlinePanel::sizeColumns);
  const auto sizeSoon = [this] { sizeSoon_.start(); };
  connect(tree_, &OutlineTree::resized, this, sizeSoon);
  connect(tree_, &QTreeView::expanded, this, sizeSoon);
  connect(tree_, &QTreeView::collapsed, this, sizeSoon);
  connect(model_, &QAbstractItemModel::modelReset, this, sizeSoon);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(tree_);
  setFocusProxy(tree_);
  connect(tree_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
          [this](const QModelIndex& index) {
            if (following_ || !index.isValid()) return;
            const NodeId node{index.data(OutlineModel::nodeRole).toUInt()};
            if (node.valid()) {
              emit nodeChosen(node);
            } else if (const QString scope = index.data(OutlineModel::scopeRole).toString();
                       !scope.isEmpty()) {
              emit scopeChosen(scope);
            }
          });
}

void OutlinePanel::setGraph(const graph::GraphVersion& graph, const std::unordered_set<NodeId>& edited,
                            const QString& name) {
  following_ = true;
  QStringList open;  // paths that were open stay open
  const auto collect = [&](auto&& self, const QModelIndex& parent) -> void {
    for (int row = 0; row < model_->rowCount(parent); ++row) {
      const QModelIndex index = model_->index(row, 0, parent);
      if (!tree_->isExpanded(index)) continue;
      open += index.data(OutlineModel::scopeRole).toString();
      self(self, index);
    }
  };
  collect(collect, {});
  model_->setGraph(graph, edited, name);
  tree_->expandToDepth(0);
  for (const QString& scope : open)
    if (const QModelIndex index = model_->indexOfScope(scope); index.isValid()) tree_->expand(index);
  following_ = false;
}

std::vector<GraphView::Selected> OutlinePanel::selection() const {
  std::vector<GraphView::Selected> chosen;
  QModelIndexList rows = tree_->selectionModel()->selectedRows();
  const QModelIndex current = tree_->currentIndex().siblingAtColumn(0);
  if (rows.removeAll(current) > 0) rows += current;
  for (const QModelIndex& index : rows) {
    const NodeId node{index.data(OutlineModel::nodeRole).toUInt()};
    const QString scope = node.valid() ? QString() : index.data(OutlineModel::scopeRole).toString();
    if (node.valid() || !scope.isEmpty()) chosen.push_back({node, scope});
  }
  return chosen;
}

void OutlinePanel::setSides(const std::optional<SideLooks>& sides) {
  model_->setSides(sides);
  sizeColumns();
}

/// Of the rows that are not folded away, when each level is this much further in. The model's own name is
/// longer than it needs to be known by.
double OutlinePanel::widestName(double indentation) const {
  double widest = 0;
  for (QModelIndex row = tree_->indexBelow(model_->index(0, 0)); row.isValid();
       row = tree_->indexBelow(row)) {
    int depth = 1;
    for (QModelIndex above = row.parent(); above.isValid(); above = above.parent()) ++depth;
    widest = std::max(widest, depth * indentation + delegate_->nameWidth(row));
  }
  return widest;
}

/// Where the names need it, the bars give way to them, then the steps between the levels, then a digit, and
/// of two sides B's time, which A's and the ratio tell.
void OutlinePanel::sizeColumns() {
  const bool compared = model_->compared();
  double times = compared ? 2 : 1;
  const double most = theme_.scaled(compared ? kRatio : kShare),
               least = compared ? theme_.scaled(kRatioNumber) + kBefore + kAfter : theme_.scaled(kLeastShare),
               all = tree_->viewport()->width();
  double time = theme_.scaled(kTime), indentation = theme_.scaled(kIndent);
  const auto left = [&](double share) { return all - times * time - share - widestName(indentation); };
  if (left(least) < 0) indentation = theme_.scaled(kLeastIndent);
  if (left(least) < 0) time = theme_.scaled(kShortTime);
  if (left(least) < 0) times = 1;
  tree_->setIndentation(static_cast<int>(indentation));
  QHeaderView* header = tree_->header();
  for (const int column : {OutlineModel::timeColumn, OutlineModel::otherColumn})
    header->resizeSection(column, static_cast<int>(time));
  header->setSectionHidden(OutlineModel::otherColumn, times < 2);
  header->resizeSection(OutlineModel::shareColumn, static_cast<int>(std::clamp(left(0), least, most)));
}

void OutlinePanel::selectIndex(const QModelIndex& index) {
  if (!index.isValid() || index == tree_->currentIndex()) return;
  following_ = true;
  tree_->setCurrentIndex(index);
  tree_->scrollTo(index);
  following_ = false;
}

void OutlinePanel::select(NodeId node) { selectIndex(model_->indexOf(node)); }
void OutlinePanel::selectScope(const QString& scope) { selectIndex(model_->indexOfScope(scope)); }

void OutlinePanel::setTheme(const Theme& theme) {
  theme_ = theme;
  delegate_->setTheme(theme);
  tree_->setTheme(theme);
  sizeColumns();
  tree_->doItemsLayout();
  update();
}

void OutlinePanel::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  emit shown();
}

void OutlinePanel::paintEvent(QPaintEvent* event) {
  QPainter painter(this);
  painter.fillRect(event->rect(), theme_(Token::panel));
}

}  // namespace orrery::ui
