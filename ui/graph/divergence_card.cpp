#include "ui/graph/divergence_card.h"

#include <QFontMetricsF>
#include <QPainter>

#include "ui/theme/icons.h"

namespace orrery::ui {
namespace {

constexpr double kCardWidth = 232, kCardHeight = 86, kCardRadius = 7, kCardInset = 12;

}  // namespace

DivergenceCard::DivergenceCard(const Theme& theme, QWidget* parent) : QAbstractButton(parent), theme_(theme) {
  setFocusPolicy(Qt::TabFocus);
  setCursor(Qt::PointingHandCursor);
  hide();
}

void DivergenceCard::setTheme(const Theme& theme) {
  theme_ = theme;
  resize(sizeHint());
  update();
}

void DivergenceCard::setDivergence(const Divergence& divergence) {
  shown_ = divergence;
  setAccessibleName(tr("First node that differs: ") + shown_.path);
  setToolTip(shown_.path + tr("\nThe first node, in the order they run, whose values differ; show it"));
  update();
}

QSize DivergenceCard::sizeHint() const {
  return {qRound(theme_.scaled(kCardWidth)), qRound(theme_.scaled(kCardHeight))};
}

void DivergenceCard::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const double s = theme_.scaled(1), left = kCardInset * s, room = width() - 2 * left;
  painter.setPen(QPen(theme_(hasFocus() ? Token::accent : Token::warn), hasFocus() ? 2 : 1));
  painter.setBrush(theme_(underMouse() ? Token::hover : Token::panel));
  painter.drawRoundedRect(QRectF(rect()).adjusted(1, 1, -1, -1), kCardRadius, kCardRadius);
  paintIcon(painter, u"warn", QRectF(left, 9 * s, 13 * s, 13 * s), theme_(Token::warn));
  painter.setFont(theme_.textFont(12, QFont::DemiBold));
  painter.setPen(theme_(Token::text));
  painter.drawText(QRectF(left + 20 * s, 6 * s, room - 20 * s, 19 * s), Qt::AlignVCenter,
                   tr("First node that differs"));
  const QFont mono = theme_.monoFont(11);
  painter.setFont(mono);
  painter.setPen(theme_(Token::text2));
  painter.drawText(QRectF(left, 26 * s, room, 18 * s), Qt::AlignVCenter,
                   QFontMetricsF(mono).elidedText(shown_.path, Qt::ElideMiddle, room));
  const std::pair<QString, QString> columns[] = {{tr("max-abs"), QString::number(shown_.maxAbs, 'e', 1)},
                                                 {tr("NMSE"), QString::number(shown_.nmse, 'e', 1)},
                                                 {tr("cosine"), QString::number(shown_.cosine, 'f', 6)}};
  double x = left;
  for (const auto& [caption, value] : columns) {
    const QRectF cell(x, 46 * s, room / 3, 15 * s);
    painter.setFont(theme_.textFont(10.5));
    painter.setPen(theme_(underMouse() ? Token::text2 : Token::text3));
    painter.drawText(cell, Qt::AlignVCenter, caption);
    painter.setFont(mono);
    painter.setPen(theme_(Token::text));
    painter.drawText(cell.translated(0, 16 * s), Qt::AlignVCenter | Qt::TextDontClip, value);
    x += room / 3;
  }
}

}  // namespace orrery::ui
