#include "ui/graph/pick_palette.h"

#include <QMouseEvent>
#include <QPainter>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/theme/icons.h"

namespace orrery::ui {
namespace {

constexpr double kPaletteWidth = 250, kRow = 32, kSearch = 36, kFoot = 24, kPaletteRadius = 10, kMargin = 5;
constexpr int kRows = 7;  // that are seen at once

enum Role { nameRole = Qt::UserRole, helpRole, refusalRole, familyRole };

class PickDelegate : public PopupRows {
 public:
  PickDelegate(const Theme& theme, QObject* parent) : PopupRows(theme, kRow, parent) {}

  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    const double s = theme_.scaled(1);
    const bool selected = option.state & QStyle::State_Selected;
    const QString refusal = index.data(refusalRole).toString();
    const auto family = static_cast<graph::OpFamily>(index.data(familyRole).toInt());
    const QRectF box = QRectF(option.rect).adjusted(kMargin, 0, -kMargin, 0);
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    if (selected) paintBox(*painter, box, 5, theme_(Token::selectionBg), QColor());
    paintIcon(*painter, glyphName(family), QRectF(box.left() + 10 * s, box.top() + 9 * s, 14 * s, 14 * s),
              refusal.isEmpty() ? theme_.family(family) : theme_(Token::disabled));
    const double left = box.left() + 34 * s, key = selected && refusal.isEmpty() ? 44 * s : 6 * s;
    const QRectF text(left, box.top() + 2 * s, box.right() - left - key, box.height() - 4 * s);
    painter->setFont(theme_.monoFont(12, selected ? QFont::Medium : QFont::Normal));
    painter->setPen(theme_(!refusal.isEmpty() ? Token::text3
                           : selected         ? Token::selectionText
                                              : Token::text));
    painter->drawText(text, Qt::AlignLeft | Qt::AlignTop, index.data(nameRole).toString());
    paintHelp(*painter, text, refusal, index.data(helpRole).toString(), selected);
    if (selected && refusal.isEmpty()) {
      painter->setFont(theme_.monoFont(10));
      painter->setPen(theme_(Token::text2));
      painter->drawText(box.adjusted(0, 0, -9 * s, 0), Qt::AlignRight | Qt::AlignVCenter,
                        QStringLiteral("Enter"));
    }
    painter->restore();
  }

 private:
  void paintHelp(QPainter& painter, QRectF text, const QString& refusal, const QString& help,
                 bool selected) const {
    const QFont font = theme_.textFont(11);
    const double s = theme_.scaled(1);
    if (!refusal.isEmpty()) {
      paintIcon(painter, u"x", QRectF(text.left() - 2 * s, text.bottom() - 13 * s, 12 * s, 12 * s),
                theme_(Token::text2));
      text.setLeft(text.left() + 12 * s);
    }
    painter.setFont(font);
    painter.setPen(theme_(selected || !refusal.isEmpty() ? Token::text2 : Token::text3));
    painter.drawText(
        text, Qt::AlignLeft | Qt::AlignBottom,
        QFontMetricsF(font).elidedText(refusal.isEmpty() ? help : refusal, Qt::ElideRight, text.width()));
  }
};

}  // namespace

void PickModel::setPicks(Picks picks) {
  picks_ = std::move(picks);
  filtered_ = true;
  typed_.clear();
  rank();
}

void PickModel::setWords(const QString& typed) {
  typed_ = typed;
  rank();
}

void PickModel::setFiltered(bool filtered) {
  filtered_ = filtered;
  rank();
}

size_t PickModel::fitting() const {
  return static_cast<size_t>(
      std::count_if(picks_.begin(), picks_.end(), [](const Pick& pick) { return pick.refusal.isEmpty(); }));
}

void PickModel::rank() {
  beginResetModel();
  const QStringList words = typed_.split(' ', Qt::SkipEmptyParts);
  std::vector<std::pair<int, size_t>> ranked;
  for (size_t i = 0; i < picks_.size(); ++i) {
    const Pick& pick = picks_[i];
    const int rank = rankOf(pick.name, {pick.help, familyName(pick.family)}, words);
    if (rank >= 0) ranked.emplace_back(rank + (filtered_ && !pick.refusal.isEmpty() ? 1000 : 0), i);
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  rows_.clear();
  for (const auto& [rank, index] : ranked) rows_.push_back(index);
  endResetModel();
}

int PickModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

QVariant PickModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const Pick& pick = at(index.row());
  switch (role) {
    case Qt::DisplayRole:
    case nameRole:
      return pick.name;
    case Qt::AccessibleTextRole:
      return pick.refusal.isEmpty() ? pick.name : tr("%1, does not fit: %2").arg(pick.name, pick.refusal);
    case Qt::ToolTipRole:
      return pick.refusal.isEmpty() ? pick.help : pick.help + '\n' + pick.refusal;
    case helpRole:
      return pick.help;
    case refusalRole:
      return pick.refusal;
    case familyRole:
      return static_cast<int>(pick.family);
    default:
      return {};
  }
}

PickPalette::PickPalette(const Theme& theme, QWidget* view)
    : SearchPopup(theme, new SearchField(theme, "search", tr("Search"), {}), kRows, view),
      model_(new PickModel(this)) {
  setRows(model_, new PickDelegate(theme, list()));
  list()->setAccessibleName(tr("Choices"));
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(1, 0, 1, 0);
  layout->setSpacing(0);
  auto* top = new QHBoxLayout;
  top->setContentsMargins(4, 4, 4, 4);
  top->addWidget(field());
  layout->addLayout(top);
  layout->addSpacing(4);
  layout->addWidget(list(), 1);
  layout->addSpacing(static_cast<int>(theme.scaled(kFoot)));
  connect(list()->selectionModel(), &QItemSelectionModel::currentChanged, this,
          [this](const QModelIndex& now) {
            const bool fits = now.isValid() && model_->at(now.row()).refusal.isEmpty();
            if (isVisible()) emit considered(fits ? model_->at(now.row()).key : QString());
          });
  field()->setFrame(false);
  setTheme(theme);
}

void PickPalette::setTheme(const Theme& theme) {
  SearchPopup::setTheme(theme);
  field()->setStyleSheet(
      QString("QLineEdit { background: %1; border: none; }").arg(theme(Token::raised).name()));
}

void PickPalette::open(Picks picks, const QString& placeholder, const QString& takes, const QPoint& at) {
  takes_ = takes;
  model_->setPicks(std::move(picks));
  field()->setPlaceholderText(placeholder);
  field()->setAccessibleName(placeholder);
  field()->clear();
  const int rows = std::clamp(model_->rowCount(), 1, page());
  const QSize size(qRound(theme().scaled(kPaletteWidth)),
                   qRound(theme().scaled(kSearch + 6 + kFoot + rows * kRow)));
  const QRect room = parentWidget()->rect().adjusted(8, 8, -8, -8);
  QRect place(at - QPoint(0, qRound(theme().scaled(kSearch + kRow / 2))), size.boundedTo(room.size()));
  place.moveLeft(std::clamp(place.left(), room.left(), room.right() + 1 - place.width()));
  place.moveTop(std::clamp(place.top(), room.top(), room.bottom() + 1 - place.height()));
  openAt(place);
  narrow();
}

void PickPalette::narrow() {
  model_->setWords(field()->text());
  chooseFirst();
  note();
}

void PickPalette::note() {
  field()->setNote(takes_.isEmpty() ? QString::number(model_->rowCount())
                                    : tr("%1 of %2").arg(model_->fitting()).arg(model_->picks().size()));
  update();
}

void PickPalette::take(const QModelIndex& row, Qt::KeyboardModifiers modifiers) {
  if (!row.isValid()) return;
  const bool connected = !(modifiers & Qt::AltModifier);
  const Pick pick = model_->at(row.row());
  if (!pick.refusal.isEmpty() && connected) return;  // it says why
  putAway();
  emit chosen(pick.key, connected);
}

QRectF PickPalette::allOps() const {
  const double foot = theme().scaled(kFoot), width = theme().scaled(64);
  return {this->width() - width, height() - foot, width, foot};
}

void PickPalette::mousePressEvent(QMouseEvent* event) {
  if (takes_.isEmpty() || !allOps().contains(event->position())) return;
  model_->setFiltered(!model_->filtered());
  chooseFirst();
  note();
}

void PickPalette::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const double s = theme().scaled(1), foot = height() - kFoot * s;
  paintBox(painter, rect(), kPaletteRadius * s, theme()(Token::raised), controlOutline(theme()));
  painter.setPen(QPen(theme()(Token::border), 1));
  painter.drawLine(QPointF(1, kSearch * s + 0.5), QPointF(width() - 1, kSearch * s + 0.5));
  painter.drawLine(QPointF(1, foot + 0.5), QPointF(width() - 1, foot + 0.5));
  const QRectF line(14 * s, foot, width() - 26 * s, kFoot * s);
  painter.setFont(theme().textFont(10.5));
  painter.setPen(theme()(Token::text3));
  if (takes_.isEmpty()) {
    painter.drawText(line, Qt::AlignVCenter, tr("Alt+Enter leaves it unconnected"));
    return;
  }
  painter.drawText(line, Qt::AlignVCenter, tr("takes"));
  painter.setFont(theme().monoFont(10.5));
  painter.setPen(theme()(Token::text2));
  painter.drawText(line.adjusted(32 * s, 0, -60 * s, 0), Qt::AlignVCenter, takes_);
  painter.setFont(theme().textFont(10.5, QFont::Medium));
  painter.setPen(theme()(Token::accent));
  painter.drawText(line, Qt::AlignVCenter | Qt::AlignRight,
                   model_->filtered() ? tr("all ops") : tr("what fits"));
}

}  // namespace orrery::ui
