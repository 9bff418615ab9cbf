#include "ui/graph/legend.h"

#include <QKeyEvent>
#include <QLinearGradient>
#include <QMouseEvent>
#include <QPainter>
#include <algorithm>

#include "ui/theme/text_metrics.h"

namespace orrery::ui {
namespace {

// At body 13.
constexpr double kScaleWidth = 236, kBarTop = 36, kBarHeight = 8, kBarWidth = 208, kSwitch = 58, kMark = 14;

QFont endFont(const Theme& theme) { return theme.textFont(11.5, QFont::Medium); }
QString endText(const SideLook& end) { return end.name + Legend::tr(" faster"); }

}  // namespace

Legend::Legend(const Theme& theme, QWidget* parent) : StripSection(theme, parent) {
  setFocusPolicy(Qt::TabFocus);
  setAccessibleName(tr("Colour scale"));
}

void Legend::setScale(const QString& title, const std::vector<QString>& ticks, bool logarithmic) {
  kind_ = Kind::scale;
  title_ = title;
  ticks_ = ticks;
  logarithmic_ = logarithmic;
  setToolTip(tr("Scale of the colours: logarithmic or linear"));
  update();
}

void Legend::setRatio(const SideLooks& ends, const std::vector<QString>& ticks) {
  kind_ = Kind::ratio;
  ends_ = ends;
  ticks_ = ticks;
  setToolTip(ends[0].name + " : " + ends[1].name + ", time of every node: the colour of the faster one");
  update();
}

void Legend::setNone(const QString& title, const QString& note) {
  kind_ = Kind::none;
  title_ = title;
  note_ = note;
  setToolTip({});
  update();
}

QSize Legend::sizeHint() const { return {qRound(px(kScaleWidth)), qRound(px(kStripHeight))}; }

QRectF Legend::bar() const { return {px(kInset), px(kBarTop), px(kBarWidth), px(kBarHeight)}; }

QRectF Legend::switchRect() const { return {bar().right() - px(kSwitch), px(6.5), px(kSwitch), px(19)}; }

void Legend::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  if (kind_ == Kind::ratio)
    paintEnds(painter);
  else
    paintTitle(painter, title_, kind_ == Kind::scale ? tr("of an op, of a layer") : QString(),
               kind_ == Kind::scale ? switchRect().left() - px(4) : bar().right());
  if (kind_ == Kind::none) return paintNote(painter, note_, 43);
  if (kind_ == Kind::scale) paintSwitch(painter);
  paintScale(painter);
  paintNote(painter,
            kind_ == Kind::ratio ? tr("Time of A : time of B") : tr("Follows the whole step, not the view"),
            81);
}

void Legend::paintSwitch(QPainter& painter) const {
  const QRectF both = switchRect();
  painter.setPen(QPen(theme_(hasFocus() ? Token::accent : Token::border), 1));
  painter.setBrush(theme_(Token::sunken));
  painter.drawRoundedRect(both.adjusted(0.5, 0.5, -0.5, -0.5), 4.5, 4.5);
  const QFont font = theme_.textFont(10.5, QFont::Medium);
  for (const bool logarithmic : {true, false}) {
    const QRectF half(both.left() + (logarithmic ? 0 : both.width() / 2), both.top(), both.width() / 2,
                      both.height());
    if (logarithmic == logarithmic_) {
      painter.setPen(QPen(Theme::blend(theme_(Token::hover), theme_(Token::borderStrong), 0.5), 1));
      painter.setBrush(theme_(Token::raised));
      painter.drawRoundedRect(half.adjusted(0.5, 0.5, -0.5, -0.5), 4.5, 4.5);
    }
    painter.setPen(theme_(logarithmic == logarithmic_ ? Token::text : Token::text2));
    drawLabel(painter, half, Qt::AlignHCenter, logarithmic ? tr("log") : tr("lin"), font);
  }
}

/// "CPU faster" at the one end, "CUDA 0 faster" at the other, each with the mark of its side.
void Legend::paintEnds(QPainter& painter) const {
  const double mark = px(kMark);
  const QFont font = endFont(theme_);
  const QRectF row(bar().left(), px(5), bar().width(), px(22));
  const double room = row.width() - 2 * mark - px(10);
  double left = room;  // for the second what the first does not need
  for (const size_t end : {0, 1}) {
    const double other = textWidth(endText(ends_[1 - end]), font);
    const QString words =
        elided(endText(ends_[end]), font, std::max(room / 2, left - (end == 0 ? other : 0)));
    left -= textWidth(words, font);
    paintMark(painter, ends_[end],
              QPointF(end == 0 ? row.left() + px(4) : row.right() - px(4), row.center().y()), px(7), theme_);
    painter.setPen(theme_(Token::text));
    const double x = end == 0 ? row.left() + mark : row.right() - mark - textWidth(words, font);
    drawLabel(painter, QRectF(x, row.top(), textWidth(words, font), row.height()), Qt::AlignLeft, words,
              font);
  }
}

/// The first and the last tick are aligned with the scale's ends, those between stand below their places; one
/// that would touch its neighbours is left out.
void Legend::paintScale(QPainter& painter) const {
  const QRectF area = bar();
  QLinearGradient scale(area.topLeft(), area.topRight());
  for (int i = 0; i <= 16; ++i)
    scale.setColorAt(i / 16.0, kind_ == Kind::ratio ? theme_.ratio(i / 2.0 - 4) : theme_.heat(i / 16.0));
  painter.setPen(QPen(theme_(Token::border), 1));
  painter.setBrush(scale);
  painter.drawRoundedRect(area, 2, 2);
  const QFont font = theme_.monoFont(10);
  painter.setPen(theme_(Token::text2));
  const double last = ticks_.empty() ? 0 : area.right() - textWidth(ticks_.back(), font);
  double free = area.left() - 1;
  for (size_t i = 0; i < ticks_.size() && ticks_.size() > 1; ++i) {
    const double width = textWidth(ticks_[i], font),
                 x = area.left() +
                     area.width() * static_cast<double>(i) / static_cast<double>(ticks_.size() - 1),
                 from = i == 0                   ? area.left()
                        : i + 1 == ticks_.size() ? last
                                                 : x - width / 2;
    const bool between = i > 0 && i + 1 < ticks_.size();
    if (between && (from < free || from + width > last - px(6))) continue;
    drawLabel(painter, QPointF(from, px(59)), ticks_[i], font);
    free = from + width + px(6);
  }
}

void Legend::mousePressEvent(QMouseEvent* event) {
  if (kind_ != Kind::scale || !switchRect().adjusted(-4, -4, 4, 4).contains(event->position())) return;
  emit logarithmicChanged(event->position().x() < switchRect().center().x());
}

void Legend::keyPressEvent(QKeyEvent* event) {
  if (kind_ == Kind::scale && (event->key() == Qt::Key_Space || event->key() == Qt::Key_Return))
    emit logarithmicChanged(!logarithmic_);
  else
    QWidget::keyPressEvent(event);
}

}  // namespace orrery::ui
