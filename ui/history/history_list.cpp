#include "ui/history/history_list.h"

#include <QKeyEvent>
#include <QPainter>
#include <QStyledItemDelegate>

#include "ui/theme/format.h"
#include "ui/theme/icons.h"
#include "ui/theme/text_metrics.h"

namespace orrery::ui {
namespace {

constexpr double kRow = 34, kLine = 14, kWords = 28, kInset = 4;

using StepState = HistoryModel::State;

StepState stateOf(const QModelIndex& index) {
  return static_cast<StepState>(index.data(HistoryModel::stateRole).toInt());
}

class HistoryDelegate : public QStyledItemDelegate {
 public:
  HistoryDelegate(const Theme& theme, QListView* list)
      : QStyledItemDelegate(list), theme_(theme), list_(list) {}
  void setTheme(const Theme& theme) { theme_ = theme; }

  QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const override {
    return {60, qRound(theme_.scaled(kRow))};
  }

  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    const StepState state = stateOf(index);
    const bool hovered = option.state & QStyle::State_MouseOver, now = state == StepState::now;
    const QRectF row(option.rect);
    const QRectF ground = row.adjusted(theme_.scaled(kInset), 1, -theme_.scaled(kInset), -1);
    if (now || hovered)
      paintBox(*painter, ground, theme_.scaled(5), theme_(now ? Token::selectionBg : Token::hover), QColor());
    if (list_->hasFocus() && index == list_->currentIndex())
      paintFocus(*painter, ground, theme_.scaled(5), theme_);
    paintLine(*painter, row, index);
    paintDot(*painter, QPointF(theme_.scaled(kLine), row.center().y()), state);
    paintWords(*painter, row, index, hovered);
    painter->restore();
  }

 private:
  /// From the dot above to the one below; dotted between those that are undone.
  void paintLine(QPainter& painter, const QRectF& row, const QModelIndex& index) const {
    const double x = theme_.scaled(kLine);
    const auto part = [&](StepState state, double from, double to) {
      const bool undone = state == StepState::undone || state == StepState::considered;
      QPen pen(theme_(undone ? Token::text3 : Token::edited), theme_.scaled(1.4));
      if (undone) pen.setDashPattern({1.4, 2.2});
      painter.setPen(pen);
      painter.drawLine(QPointF(x, from), QPointF(x, to));
    };
    if (index.row() > 0) part(stateOf(index), row.top(), row.center().y());
    const QModelIndex below = index.siblingAtRow(index.row() + 1);
    if (below.isValid()) part(stateOf(below), row.center().y(), row.bottom() + 1);
  }

  void paintDot(QPainter& painter, const QPointF& at, StepState state) const {
    const double s = theme_.scaled(1);
    const QColor ground = theme_(state == StepState::now ? Token::selectionBg : Token::panel);
    const auto circle = [&](double radius, const QColor& line, const QColor& fill) {
      painter.setPen(line.isValid() ? QPen(line, 1.6 * s) : QPen(Qt::NoPen));
      painter.setBrush(fill);
      painter.drawEllipse(at, radius * s, radius * s);
    };
    switch (state) {
      case StepState::opened:
        return circle(3, QColor(), theme_(Token::text2));
      case StepState::done:
        return circle(3.5, QColor(), theme_(Token::edited));
      case StepState::now:
        circle(6.5, theme_(Token::accent), ground);
        return circle(3.5, QColor(), theme_(Token::edited));
      case StepState::considered:
        return circle(3.5, theme_(Token::accent), ground);
      case StepState::undone:
        return circle(3.5, theme_(Token::text3), ground);
    }
  }

  void paintWords(QPainter& painter, const QRectF& row, const QModelIndex& index, bool hovered) const {
    const StepState state = stateOf(index);
    const double s = theme_.scaled(1), left = kWords * s, right = row.width() - 10 * s;
    const bool now = state == StepState::now, jumps = hovered && !now && state != StepState::considered;
    const QRectF upper(left, row.top() + 2 * s, right - left, 16 * s),
        lower(left, row.top() + 16 * s, right - left, 15 * s);
    const auto write = [&](const QRectF& where, Qt::Alignment side, const QFont& font, const QColor& ink,
                           const QString& words, double room) {
      painter.setFont(font);
      painter.setPen(ink);
      painter.drawText(where, Qt::AlignVCenter | side,
                       QFontMetricsF(font).elidedText(words, Qt::ElideMiddle, room));
    };
    const QString mark = now ? tr("now") : jumps ? tr("Jump") : QString();
    const QFont markFont = theme_.textFont(10.5, QFont::Medium), timeFont = theme_.monoFont(10.5);
    double taken = mark.isEmpty() ? 0 : textWidth(mark, markFont) + 8 * s;
    write(upper, Qt::AlignRight, markFont, theme_(now ? Token::selectionText : Token::accent), mark, 60 * s);
    if (jumps) {
      paintIcon(painter, u"jump", QRectF(right - taken - 6 * s, upper.center().y() - 5 * s, 10 * s, 10 * s),
                theme_(Token::accent));
      taken += 14 * s;
    }
    const QColor name = theme_(now                              ? Token::selectionText
                               : state == StepState::considered ? Token::accent
                               : state == StepState::undone     ? hovered ? Token::text2 : Token::text3
                                                                : Token::text);
    write(upper, Qt::AlignLeft, theme_.textFont(12, now ? QFont::Medium : QFont::Normal), name,
          index.data().toString(), upper.width() - taken);
    const double us = index.data(HistoryModel::timeRole).toDouble();
    const QString time = us > 0 ? format::time(us, state == StepState::considered) : format::dash();
    const QColor second = now ? theme_(Token::selectionText) : theme_(hovered ? Token::text2 : Token::text3);
    write(lower, Qt::AlignRight, timeFont, second, time, 80 * s);
    write(lower, Qt::AlignLeft, theme_.textFont(10.5), second, index.data(HistoryModel::scopeRole).toString(),
          lower.width() - textWidth(time, timeFont) - 8 * s);
  }

  Theme theme_;
  QListView* list_;
};

}  // namespace

HistoryList::HistoryList(const Theme& theme, HistoryModel* model, QWidget* parent) : QListView(parent) {
  setModel(model);
  setItemDelegate(new HistoryDelegate(theme, this));
  setFrameShape(QFrame::NoFrame);
  setUniformItemSizes(true);
  setMouseTracking(true);
  setSelectionMode(QAbstractItemView::NoSelection);
  setEditTriggers(QAbstractItemView::NoEditTriggers);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
  setAccessibleName(tr("History"));
  connect(this, &QListView::clicked, this, &HistoryList::jumpTo);
}

void HistoryList::jumpTo(const QModelIndex& index) {
  if (!index.isValid() || stateOf(index) == StepState::now || stateOf(index) == StepState::considered) return;
  emit jumpAsked(index.data(HistoryModel::stepsRole).toInt());
}

void HistoryList::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) return jumpTo(currentIndex());
  QListView::keyPressEvent(event);
}

void HistoryList::setTheme(const Theme& theme) {
  static_cast<HistoryDelegate*>(itemDelegate())->setTheme(theme);
  doItemsLayout();
}

}  // namespace orrery::ui
