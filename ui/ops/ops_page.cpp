#include "ui/ops/ops_page.h"

#include <QKeyEvent>
#include <QPainter>
#include <QStyledItemDelegate>
#include <QVBoxLayout>

#include "ui/theme/icons.h"
#include "ui/theme/text_metrics.h"

namespace orrery::ui {
namespace {

constexpr double kRow = 24;

class OpsDelegate : public QStyledItemDelegate {
 public:
  OpsDelegate(const Theme& theme, QTreeView* tree) : QStyledItemDelegate(tree), theme_(theme), tree_(tree) {}
  void setTheme(const Theme& theme) { theme_ = theme; }

  QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const override {
    return {60, qRound(theme_.scaled(kRow))};
  }

  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    const double s = theme_.scaled(1);
    const bool family = index.data(OpsModel::opRole).toString().isEmpty();
    const bool selected = option.state & QStyle::State_Selected,
               hovered = option.state & QStyle::State_MouseOver;
    const QRectF row(0, option.rect.top(), tree_->viewport()->width(), option.rect.height());
    const QRectF ground = row.adjusted((family ? 4 : 28) * s, 1, -6 * s, -1);
    if (selected || hovered)
      paintBox(*painter, ground, 4, theme_(selected ? Token::selectionBg : Token::hover), QColor());
    const auto ink = [&](Token token) { return theme_(selected ? Token::selectionText : token); };
    const double left = 50 * s, right = row.right() - 12 * s;
    if (family) {
      const auto which = static_cast<graph::OpFamily>(index.data(OpsModel::familyRole).toInt());
      const QRectF sign(9 * s, row.center().y() - 7 * s, 14 * s, 14 * s);
      paintIcon(*painter, tree_->isExpanded(index) ? u"down" : u"right", sign, theme_(Token::text3));
      paintIcon(*painter, glyphName(which), sign.translated(19 * s, 0), theme_.family(which));
    }
    const QFont font = family ? theme_.textFont(12) : theme_.monoFont(11);
    const QString name = index.data().toString();
    painter->setFont(font);
    painter->setPen(ink(Token::text));
    painter->drawText(row.adjusted(left, 0, 0, 0), Qt::AlignVCenter, name);
    const QFont helpFont = family ? theme_.monoFont(10.5) : theme_.textFont(11);
    const double room = right - left - textWidth(name, font) - 12 * s;
    painter->setFont(helpFont);
    painter->setPen(selected || hovered ? ink(Token::text2) : theme_(Token::text3));
    if (room > 24)
      painter->drawText(QRectF(right - room, row.top(), room, row.height()),
                        Qt::AlignVCenter | Qt::AlignRight,
                        QFontMetricsF(helpFont).elidedText(index.data(OpsModel::helpRole).toString(),
                                                           Qt::ElideRight, room));
    painter->restore();
  }

 private:
  Theme theme_;
  QTreeView* tree_;
};

}  // namespace

OpsPage::OpsPage(const Theme& theme, QWidget* parent)
    : QWidget(parent),
      field_(new SearchField(theme, "search", tr("Search ops"), "Tab", this)),
      model_(new OpsModel(this)),
      tree_(new QTreeView(this)) {
  tree_->setModel(model_);
  tree_->setItemDelegate(new OpsDelegate(theme, tree_));
  tree_->setHeaderHidden(true);
  tree_->setRootIsDecorated(false);
  tree_->setIndentation(0);
  tree_->setUniformRowHeights(true);
  tree_->setFrameShape(QFrame::NoFrame);
  tree_->setMouseTracking(true);
  tree_->setDragEnabled(true);
  tree_->setDragDropMode(QAbstractItemView::DragOnly);
  tree_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  tree_->setAccessibleName(tr("Ops"));
  tree_->setExpandsOnDoubleClick(false);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 8, 0, 0);
  layout->setSpacing(8);
  auto* top = new QHBoxLayout;
  top->setContentsMargins(10, 0, 10, 0);
  top->addWidget(field_);
  layout->addLayout(top);
  layout->addWidget(tree_, 1);
  connect(field_, &QLineEdit::textChanged, this, &OpsPage::narrow);
  connect(field_, &SearchField::escaped, field_, &QLineEdit::clear);
  connect(field_, &QLineEdit::returnPressed, this, [this] {
    const QModelIndex first = model_->index(0, 0, model_->index(0, 0));
    const QModelIndex chosen =
        tree_->currentIndex().data(OpsModel::opRole).toString().isEmpty() ? first : tree_->currentIndex();
    if (chosen.isValid()) emit opAsked(chosen.data(OpsModel::opRole).toString());
  });
  connect(tree_, &QTreeView::clicked, this, [this](const QModelIndex& index) {
    if (index.data(OpsModel::opRole).toString().isEmpty())
      tree_->setExpanded(index, !tree_->isExpanded(index));
  });
  connect(tree_, &QTreeView::doubleClicked, this, [this](const QModelIndex& index) {
    if (const QString op = index.data(OpsModel::opRole).toString(); !op.isEmpty()) emit opAsked(op);
  });
  tree_->installEventFilter(this);
  setFocusProxy(field_);
}

void OpsPage::setTheme(const Theme& theme) {
  static_cast<OpsDelegate*>(tree_->itemDelegate())->setTheme(theme);
  tree_->doItemsLayout();
}

void OpsPage::setOps(const std::vector<graph::OpPtr>& ops) {
  model_->setOps(ops);
  emit countChanged(model_->count());
}

/// What is found is open.
void OpsPage::narrow(const QString& typed) {
  model_->setWords(typed);
  typed.isEmpty() ? tree_->collapseAll() : tree_->expandAll();
}

bool OpsPage::eventFilter(QObject*, QEvent* event) {
  if (event->type() != QEvent::KeyPress) return false;
  const auto* key = static_cast<QKeyEvent*>(event);
  if (key->key() != Qt::Key_Return && key->key() != Qt::Key_Enter) return false;
  const QModelIndex index = tree_->currentIndex();
  if (const QString op = index.data(OpsModel::opRole).toString(); !op.isEmpty())
    emit opAsked(op);
  else if (index.isValid())
    tree_->setExpanded(index, !tree_->isExpanded(index));
  return true;
}

}  // namespace orrery::ui
