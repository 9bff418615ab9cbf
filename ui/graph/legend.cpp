#include "ui/graph/legend.h"

#include <QKeyEvent>
#include <QLinearGradient>
#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <cmath>

#include "ui/theme/text_metrics.h"

namespace orrery::ui {
namespace {

// At body 13.
constexpr double kLeast = 152, kMost = 300, kHeight = 62, kInset = 12, kBar = 27, kSwitch = 52, kMark = 14;
constexpr int kTickLetters = 7;  // of a tick; reserved, so that the card does not breathe with the times

QFont titleFont(const Theme& theme) { return theme.textFont(12, QFont::DemiBold); }
QFont endFont(const Theme& theme) { return theme.textFont(11.5, QFont::Medium); }
QFont tickFont(const Theme& theme) { return theme.monoFont(10); }
QString endText(const SideLook& end) { return end.name + Legend::tr(" faster"); }

}  // namespace

Legend::Legend(const Theme& theme, QWidget* parent)
    : FloatingCard(theme, tr("Hide the legend (Shift+M shows it again)"), parent) {
  setFocusPolicy(Qt::TabFocus);
  setAccessibleName(tr("Colour scale"));
  setToolTip(tr("Scale of the colours: logarithmic or linear"));
}

void Legend::setScale(const QString& title, const std::vector<QString>& ticks, bool logarithmic) {
  if (title == title_ && ticks == ticks_ && logarithmic == logarithmic_ && !ratio_) return;
  ratio_ = false;
  title_ = title;
  ticks_ = ticks;
  logarithmic_ = logarithmic;
  setToolTip(tr("Scale of the colours: logarithmic or linear"));
  update();
}

void Legend::setRatio(const SideLooks& ends, const std::vector<QString>& ticks) {
  if (ratio_ && ends == ends_ && ticks == ticks_) return;
  ratio_ = true;
  ends_ = ends;
  ticks_ = ticks;
  setToolTip(ends[0].name + " : " + ends[1].name + ", time of every node: the colour of the faster one");
  update();
}

double Legend::headWidth() const {
  const double s = theme_.scaled(1);
  if (!ratio_) return textWidth(title_, titleFont(theme_)) + (10 + kSwitch) * s + closeRoom();
  double ends = 0;
  for (const SideLook& end : ends_) ends += textWidth(endText(end), endFont(theme_)) + kMark * s;
  return ends + 10 * s + closeRoom();
}

/// The first and the last tick are aligned with the scale's ends, those between stand below their places.
double Legend::scaleWidth() const {
  const QFont font = tickFont(theme_);
  double tick = ratio_ ? 0 : textWidth(QString(kTickLetters, '0'), font);
  for (const QString& text : ticks_) tick = std::max(tick, textWidth(text, font));
  return (static_cast<double>(ticks_.size()) - 1) * (1.5 * tick + theme_.scaled(6));
}

QSize Legend::sizeHint() const {
  const double wanted = std::max(headWidth(), scaleWidth()) + 2 * theme_.scaled(kInset);
  return {static_cast<int>(std::ceil(std::clamp(wanted, theme_.scaled(kLeast), theme_.scaled(kMost)))),
          qRound(theme_.scaled(kHeight))};
}

QRectF Legend::switchRect() const {
  const double s = theme_.scaled(1);
  return {width() - (kInset + kSwitch) * s - closeRoom(), 6 * s, kSwitch * s, 16 * s};
}

void Legend::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  paintCard(painter, theme_, rect());
  ratio_ ? paintEnds(painter) : paintSwitch(painter);
  paintScale(painter);
}

void Legend::paintSwitch(QPainter& painter) const {
  const double s = theme_.scaled(1);
  const QRectF both = switchRect();
  painter.setPen(theme_(Token::text));
  painter.setFont(titleFont(theme_));
  painter.drawText(QRectF(kInset * s, 5 * s, both.left() - kInset * s, 18 * s),
                   Qt::AlignVCenter | Qt::AlignLeft, title_);
  painter.setPen(QPen(theme_(hasFocus() ? Token::accent : Token::border), 1));
  painter.setBrush(theme_(Token::sunken));
  painter.drawRoundedRect(both.adjusted(0.5, 0.5, -0.5, -0.5), 3, 3);
  painter.setFont(theme_.textFont(10, QFont::Medium));
  for (const bool logarithmic : {true, false}) {
    const QRectF half(both.left() + (logarithmic ? 0 : both.width() / 2), both.top(), both.width() / 2,
                      both.height());
    if (logarithmic == logarithmic_) {
      painter.setPen(QPen(Theme::blend(theme_(Token::hover), theme_(Token::borderStrong), 0.5), 1));
      painter.setBrush(theme_(Token::hover));
      painter.drawRoundedRect(half.adjusted(0.5, 0.5, -0.5, -0.5), 3, 3);
    }
    painter.setPen(theme_(logarithmic == logarithmic_ ? Token::text : Token::text3));
    painter.drawText(half, Qt::AlignCenter, logarithmic ? tr("log") : tr("lin"));
  }
}

/// "CPU faster" at the one end, "CUDA 0 faster" at the other, each with the mark of its side.
void Legend::paintEnds(QPainter& painter) const {
  const double s = theme_.scaled(1), mark = kMark * s;
  const QFont font = endFont(theme_);
  const QRectF row(kInset * s, 5 * s, width() - 2 * kInset * s - closeRoom(), 18 * s);
  const double room = row.width() - 2 * mark - 10 * s;
  painter.setFont(font);
  double left = room;  // for the second what the first does not need
  for (const size_t end : {0, 1}) {
    const double other = textWidth(endText(ends_[1 - end]), font);
    const QString words =
        elided(endText(ends_[end]), font, std::max(room / 2, left - (end == 0 ? other : 0)));
    left -= textWidth(words, font);
    paintMark(painter, ends_[end],
              QPointF(end == 0 ? row.left() + 4 * s : row.right() - 4 * s, row.center().y()), 7 * s, theme_);
    painter.setPen(theme_(Token::text));
    painter.drawText(row.adjusted(mark, 0, -mark, 0),
                     Qt::AlignVCenter | (end == 0 ? Qt::AlignLeft : Qt::AlignRight), words);
  }
}

void Legend::paintScale(QPainter& painter) const {
  const double s = theme_.scaled(1), left = kInset * s, right = width() - kInset * s;
  const QRectF bar(left, kBar * s, right - left, 9 * s);
  QLinearGradient scale(bar.topLeft(), bar.topRight());
  for (int i = 0; i <= 16; ++i)
    scale.setColorAt(i / 16.0, ratio_ ? theme_.ratio(i / 2.0 - 4) : theme_.heat(i / 16.0));
  painter.setPen(Qt::NoPen);
  painter.setBrush(scale);
  painter.drawRoundedRect(bar, 2, 2);
  const QFont font = tickFont(theme_);
  painter.setFont(font);
  for (size_t i = 0; i < ticks_.size() && ticks_.size() > 1; ++i) {
    const double x = left + (right - left) * static_cast<double>(i) / static_cast<double>(ticks_.size() - 1);
    painter.setPen(QPen(theme_(Token::text3), 1));
    painter.drawLine(QPointF(x, bar.bottom()), QPointF(x, bar.bottom() + 3.5 * s));
    painter.setPen(theme_(Token::text2));
    const double width = textWidth(ticks_[i], font), from = i == 0                   ? x
                                                            : i + 1 == ticks_.size() ? x - width
                                                                                     : x - width / 2;
    painter.drawText(QRectF(from, bar.bottom() + 5 * s, width, 14 * s),
                     Qt::AlignVCenter | Qt::AlignLeft | Qt::TextDontClip, ticks_[i]);
  }
}

void Legend::mousePressEvent(QMouseEvent* event) {
  if (ratio_) return;
  if (!switchRect().adjusted(-4, -4, 4, 4).contains(event->position())) return;
  emit logarithmicChanged(event->position().x() < switchRect().center().x());
}

void Legend::keyPressEvent(QKeyEvent* event) {
  if (!ratio_ && (event->key() == Qt::Key_Space || event->key() == Qt::Key_Return))
    emit logarithmicChanged(!logarithmic_);
  else
    QWidget::keyPressEvent(event);
}

}  // namespace orrery::ui
