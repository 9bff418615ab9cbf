#include "ui/costs/cost_card.h"

#include <QPainter>
#include <QPainterPath>
#include <algorithm>

#include "ui/session/step_words.h"
#include "ui/theme/format.h"
#include "ui/theme/icons.h"
#include "ui/theme/text_metrics.h"
#include "ui/widgets/meter.h"

namespace orrery::ui {
namespace {

constexpr double kWidth = 164, kHeight = 140, kInset = 9, kHead = 27, kLine = 15, kChip = 15, kDelta = 46;
constexpr double kBar = 2.5;

}  // namespace

CostCard::CostCard(const Theme& theme, QWidget* parent) : QAbstractButton(parent), theme_(theme) {
  setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
  setFocusPolicy(Qt::TabFocus);
  setCursor(Qt::PointingHandCursor);
  setAttribute(Qt::WA_Hover);
}

void CostCard::setCost(const EditCost& cost, int number, bool writes, float most) {
  cost_ = cost;
  number_ = number;
  most_ = most;
  lines_ = costLines(cost, writes);
  const QString title = cost.total ? tr("All %1").arg(format::counted(number, "edit"))
                                   : stepWords(cost.name, cost.edits).both();
  setText(title);
  QStringList words;
  for (const CostLine& line : lines_)
    words += QString("%1 %2 %3").arg(line.label, line.value, line.delta).trimmed();
  setAccessibleName(title + ": " + (cost.refusal ? costRefusal(cost) : words.join(", ")));
  QStringList edits;
  for (const edit::Edit& edit : cost.edits) edits += QString::fromStdString(edit.to_string());
  if (cost.refusal) edits += QString::fromStdString(cost.refusal->to_string());
  setToolTip(edits.join('\n'));
  update();
}

QSize CostCard::sizeHint() const { return {qRound(theme_.scaled(kWidth)), qRound(theme_.scaled(kHeight))}; }

void CostCard::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const double s = theme_.scaled(1);
  const Token ground = underMouse() ? Token::hover : cost_.total ? Token::raised : Token::sunken;
  paintBox(painter, rect(), 6 * s, theme_(ground), theme_(cost_.total ? Token::borderStrong : Token::border));
  if (hasFocus()) paintFocus(painter, rect(), 6 * s, theme_);
  const QRectF inner = QRectF(rect()).adjusted(kInset * s, 0, -kInset * s, 0);
  paintHead(painter, QRectF(inner.left(), 2 * s, inner.width(), kHead * s));
  if (cost_.refusal) return paintRefusal(painter, inner.adjusted(0, kHead * s + 2, 0, -6 * s));
  double y = kHead * s;
  for (const CostLine& line : lines_) {
    paintLine(painter, QRectF(inner.left(), y, inner.width(), kLine * s), line);
    y += kLine * s;
  }
  if (cost_.measuring) {
    const QRectF bar(inner.left(), height() - 10 * s, inner.width(), kBar * s);
    paintMeter(painter, bar, 0, theme_(Token::accent), theme_);
    painter.fillRect(QRectF(bar.left(), bar.top(), bar.width() / 3, bar.height()), theme_(Token::accent));
  } else {
    paintCurve(painter, QRectF(inner.left(), y + 4 * s, inner.width(), height() - y - 10 * s));
  }
}

void CostCard::paintHead(QPainter& painter, const QRectF& where) const {
  const double s = theme_.scaled(1);
  double left = where.left();
  if (!cost_.total) {
    const QRectF chip(left, where.center().y() - kChip * s / 2, kChip * s, kChip * s);
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme_(Token::editedBg));
    painter.drawEllipse(chip);
    painter.setFont(theme_.monoFont(9.5));
    painter.setPen(theme_(Token::edited));
    painter.drawText(chip, Qt::AlignCenter, QString::number(number_));
    left += (kChip + 6) * s;
  }
  const QFont font = theme_.textFont(11.5, QFont::DemiBold);
  painter.setFont(font);
  painter.setPen(theme_(Token::text));
  painter.drawText(QRectF(left, where.top(), where.right() - left, where.height()), Qt::AlignVCenter,
                   QFontMetricsF(font).elidedText(text(), Qt::ElideMiddle, where.right() - left));
}

void CostCard::paintLine(QPainter& painter, const QRectF& where, const CostLine& line) const {
  const double s = theme_.scaled(1), deltas = kDelta * s;
  painter.setFont(theme_.textFont(10.5));
  painter.setPen(theme_(Token::text2));
  painter.drawText(where, Qt::AlignVCenter, line.label);
  painter.setFont(theme_.monoFont(10.5));
  painter.setPen(theme_(line.value == format::dash() ? Token::text3 : Token::text));
  painter.drawText(where.adjusted(0, 0, -deltas, 0), Qt::AlignVCenter | Qt::AlignRight, line.value);
  painter.setFont(theme_.monoFont(9.5));
  painter.setPen(theme_(line.token));
  painter.drawText(where, Qt::AlignVCenter | Qt::AlignRight, line.delta);
}

void CostCard::paintCurve(QPainter& painter, const QRectF& where) const {
  if (!cost_.change || cost_.change->kl_by_position.size() < 2 || most_ <= 0 || where.height() < 4) return;
  const std::vector<float>& kl = cost_.change->kl_by_position;
  QPainterPath path;
  for (size_t i = 0; i < kl.size(); ++i) {
    const double x =
        where.left() + where.width() * static_cast<double>(i) / static_cast<double>(kl.size() - 1);
    const double share = std::clamp(static_cast<double>(kl[i] / most_), 0.0, 1.0);
    const QPointF point(x, where.bottom() - where.height() * share);
    i == 0 ? path.moveTo(point) : path.lineTo(point);
  }
  painter.setBrush(Qt::NoBrush);
  painter.setPen(QPen(theme_(Token::text2), 1));
  painter.drawPath(path);
}

void CostCard::paintRefusal(QPainter& painter, const QRectF& where) const {
  painter.setFont(theme_.textFont(10.5));
  painter.setPen(theme_(Token::text2));
  painter.drawText(where, Qt::TextWordWrap, costRefusal(cost_));
}

void CostCard::setTheme(const Theme& theme) {
  theme_ = theme;
  updateGeometry();
  update();
}

}  // namespace orrery::ui
