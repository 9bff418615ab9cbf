#include "ui/lab/kernel_list.h"

#include <QPainter>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "ui/lab/lab_model.h"
#include "ui/theme/format.h"
#include "ui/theme/icons.h"
#include "ui/theme/text_metrics.h"

namespace orrery::ui {
namespace {

constexpr double kLine = 24, kMarkSide = 12, kShareWidth = 36, kGap = 6;

LabMark markAt(const QModelIndex& index) {
  return static_cast<LabMark>(index.data(KernelList::markRole).toInt());
}

/// Of a kernel by its rows: what is worst is what is told.
LabMark markOfAll(const std::vector<LabRow>& rows) {
  LabMark mark = LabMark::waiting;
  const auto any = [&](LabMark one) { return std::ranges::find(rows, one, &LabRow::mark) != rows.end(); };
  for (const LabMark one : {LabMark::off, LabMark::verified, LabMark::timing, LabMark::wrong})
    if (any(one)) mark = one;
  return mark;
}

void setState(QStandardItem* item, LabMark mark, double share) {
  item->setData(static_cast<int>(mark), KernelList::markRole);
  item->setData(share, KernelList::shareRole);
  item->setData(item->text() + (mark == LabMark::waiting ? QString() : ", " + wordOf(mark)),
                Qt::AccessibleTextRole);
}

}  // namespace

QSize KernelDelegate::sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const {
  return {qRound(theme_.scaled(120)), qRound(theme_.scaled(kLine))};
}

void KernelDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option,
                           const QModelIndex& index) const {
  QStyleOptionViewItem ground = option;
  initStyleOption(&ground, index);
  ground.text.clear();
  option.widget->style()->drawControl(QStyle::CE_ItemViewItem, &ground, painter, option.widget);
  const bool isRow = !index.data(KernelList::rowRole).toString().isEmpty(),
             selected = option.state.testFlag(QStyle::State_Selected);
  const LabMark mark = markAt(index);
  const double side = theme_.scaled(kMarkSide), gap = theme_.scaled(kGap);
  QRectF room = QRectF(option.rect).adjusted(2, 0, -gap, 0);
  const QRectF place(room.right() - side, room.center().y() - side / 2, side, side);
  if (const QString name = iconOf(mark); !name.isEmpty())
    paintIcon(*painter, name, place, theme_(tokenOf(mark)));
  room.setRight(place.left() - gap);
  painter->save();
  const Token dim = selected ? Token::selectionText : Token::text3;
  if (const double share = index.data(KernelList::shareRole).toDouble(); share > 0) {
    painter->setPen(theme_(mark == LabMark::off ? dim : selected ? Token::selectionText : Token::text2));
    const QRectF words(room.right() - theme_.scaled(kShareWidth), room.top(), theme_.scaled(kShareWidth),
                       room.height());
    painter->setFont(theme_.monoFont(11));
    painter->drawText(words, Qt::AlignRight | Qt::AlignVCenter,
                      QString::number(100 * share, 'f', 0) + QStringLiteral(" %"));
    room.setRight(words.left() - gap);
  }
  const QFont font = isRow ? theme_.monoFont(10.5) : theme_.textFont(12, QFont::Medium);
  const QString text = elided(index.data().toString(), font, room.width());
  painter->setPen(theme_(selected ? Token::selectionText : isRow ? Token::text2 : Token::text));
  drawLabel(*painter, room, Qt::AlignLeft, text, font);
  const QString note = index.data(KernelList::noteRole).toString();
  const QFont small = theme_.textFont(10.5);
  const double used = textWidth(text, font) + theme_.scaled(8);
  if (!note.isEmpty() && used + textWidth(note, small) <= room.width()) {
    painter->setPen(theme_(dim));
    drawLabel(*painter, room.adjusted(used, 0, 0, 0), Qt::AlignLeft, note, small);
  }
  painter->restore();
}

KernelList::KernelList(const Theme& theme, const LabController* labs, QWidget* parent)
    : QWidget(parent),
      labs_(labs),
      field_(new SearchField(theme, "search", "Kernel or row", {}, this)),
      kernels_(new QStandardItemModel(this)),
      shown_(new QSortFilterProxyModel(this)),
      looks_(new KernelDelegate(theme, this)),
      view_(new QTreeView(this)) {
  field_->setAccessibleName("Find a kernel or a row");
  shown_->setSourceModel(kernels_);
  shown_->setRecursiveFilteringEnabled(true);
  shown_->setAutoAcceptChildRows(true);
  shown_->setFilterCaseSensitivity(Qt::CaseInsensitive);
  view_->setModel(shown_);
  view_->setItemDelegate(looks_);
  view_->setHeaderHidden(true);
  view_->setFrameShape(QFrame::NoFrame);
  view_->setUniformRowHeights(true);
  view_->setEditTriggers(QAbstractItemView::NoEditTriggers);
  view_->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
  view_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  view_->setIndentation(qRound(theme.scaled(18)));
  view_->setTabKeyNavigation(false);
  view_->setAccessibleName("Kernels and their rows");
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(6);
  layout->addWidget(field_);
  layout->addWidget(view_, 1);
  connect(field_, &QLineEdit::textChanged, this, [this](const QString& words) {
    shown_->setFilterFixedString(words.trimmed());
    words.trimmed().isEmpty() ? view_->collapseAll() : view_->expandAll();
    choose(chosen_);
  });
  connect(view_->selectionModel(), &QItemSelectionModel::currentChanged, this, &KernelList::tell);
  connect(view_, &QAbstractItemView::clicked, this, &KernelList::tell);
}

void KernelList::tell(const QModelIndex& index) {
  if (choosing_ || !index.isValid()) return;
  chosen_ = index.data(kernelRole).toString().toStdString();
  emit kernelChosen(index.data(kernelRole).toString(), index.data(rowRole).toString());
}

void KernelList::fill() {
  const bool before = std::exchange(choosing_, true);
  kernels_->clear();
  for (const api::LabKernel& kernel : labs_->kernels()) {
    const QString name = QString::fromStdString(kernel.name);
    auto* item = new QStandardItem(name);
    item->setData(name, kernelRole);
    const QString rows = format::counted(static_cast<qint64>(kernel.cpu.size() + kernel.cuda.size()), "row");
    item->setData(kernel.own ? "own op, " + rows : rows, noteRole);
    for (const std::vector<std::string>* rows : {&kernel.cpu, &kernel.cuda})
      for (auto row = rows->rbegin(); row != rows->rend(); ++row) {
        auto* child = new QStandardItem(QString::fromStdString(*row));
        child->setData(name, kernelRole);
        child->setData(child->text(), rowRole);
        item->appendRow(child);
      }
    kernels_->appendRow(item);
  }
  choosing_ = before;
  refresh();
  choose(chosen_);
}

void KernelList::refresh() {
  for (int i = 0; i < kernels_->rowCount(); ++i) refreshKernel(kernels_->item(i));
}

void KernelList::refreshKernel(QStandardItem* kernel) {
  const std::vector<LabRow> rows = labRows(*labs_, kernel->text().toStdString());
  setState(kernel, markOfAll(rows), bestShare(rows));
  for (int i = 0; i < kernel->rowCount(); ++i) {
    QStandardItem* item = kernel->child(i);
    const auto row = std::ranges::find(rows, item->text().toStdString(), &LabRow::name);
    const bool known = row != rows.end();
    setState(item, known ? row->mark : LabMark::waiting,
             known && row->timed() ? row->version->share_of_limit : 0);
    item->setToolTip(known ? labTip(*row) : QString());
  }
}

void KernelList::choose(const std::string& kernel) {
  chosen_ = kernel;
  const bool before = std::exchange(choosing_, true);
  for (int i = 0; i < kernels_->rowCount(); ++i) {
    if (kernels_->item(i)->text().toStdString() != kernel) continue;
    const QModelIndex index = shown_->mapFromSource(kernels_->index(i, 0));
    const QModelIndex current = view_->currentIndex();
    if (index.isValid() && current != index && current.parent() != index) view_->setCurrentIndex(index);
  }
  choosing_ = before;
}

void KernelList::setTheme(const Theme& theme) {
  looks_->setTheme(theme);
  view_->viewport()->update();
}

}  // namespace orrery::ui
