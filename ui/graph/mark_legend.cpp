#include "ui/graph/mark_legend.h"

#include <QPainter>

#include "ui/theme/text_metrics.h"

namespace orrery::ui {
namespace {

// At body 13.
constexpr double kMarksWidth = 300, kMarksTop = 29, kMarksRow = 20, kSignWidth = 26, kGap = 8, kSecond = 157;

}  // namespace

MarkLegend::MarkLegend(const Theme& theme, QWidget* parent) : StripSection(theme, parent) {
  setAccessibleName(tr("Lines and frames"));
}

void MarkLegend::setPaged(bool paged) {
  if (paged == paged_) return;
  paged_ = paged;
  update();
}

QSize MarkLegend::sizeHint() const { return {qRound(px(kMarksWidth)), qRound(px(kStripHeight))}; }

void MarkLegend::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  paintTitle(painter, tr("Lines and frames"), {}, width());
  const std::pair<Sign, QString> page[] = {
      {Sign::stream, tr("residual stream")}, {Sign::ring, tr("adds back to it")},
      {Sign::selected, tr("selected")},      {Sign::hovered, tr("under the pointer")},
      {Sign::edited, tr("edited")},          {Sign::free, tr("cell kept free")}};
  const std::pair<Sign, QString> plain[] = {
      {Sign::wire, tr("wider: more bytes")}, {Sign::residual, tr("passes by")},
      {Sign::selected, tr("selected")},      {Sign::folded, tr("folded, a stack")},
      {Sign::edited, tr("edited")},          {Sign::bypassed, tr("bypassed")}};
  const QFont font = theme_.textFont(11);
  for (int i = 0; i < 6; ++i) {
    const auto& [sign, words] = paged_ ? page[i] : plain[i];
    const QRectF area(px(i < 3 ? kInset : kSecond), px(kMarksTop + kMarksRow * (i % 3)), px(kSignWidth),
                      px(kMarksRow));
    paintSign(painter, sign, area);
    painter.setPen(theme_(Token::text2));
    drawLabel(painter, QRectF(area.right() + px(kGap), area.top(), px(108), area.height()), Qt::AlignLeft,
              words, font);
  }
}

void MarkLegend::paintSign(QPainter& painter, Sign sign, const QRectF& area) const {
  const QPointF middle = area.center();
  const double s = px(1);
  const QRectF box(middle.x() - 8 * s, middle.y() - 5.5 * s, 16 * s, 11 * s);
  const QPointF left(area.left(), middle.y()), right(area.right(), middle.y());
  const QColor quiet = Theme::blend(theme_(Token::border), theme_(Token::edge), 0.5);
  painter.setBrush(Qt::NoBrush);
  const auto line = [&](double width) {
    painter.setPen(QPen(theme_(Token::edge), width));
    painter.drawLine(left, right);
  };
  switch (sign) {
    case Sign::stream:
      return line(2);
    case Sign::ring:
      line(1);
      painter.setPen(QPen(theme_(Token::edge), 1.3));
      painter.setBrush(theme_(Token::panel));
      return painter.drawEllipse(left + QPointF(2.4 * s, 0), 2.4 * s, 2.4 * s);
    case Sign::wire:
      return line(3);
    case Sign::residual:
      painter.setPen(QPen(theme_(Token::edge), 1.2));
      return painter.drawPolyline(QPolygonF{left - QPointF(0, 5 * s), right - QPointF(4 * s, 5 * s),
                                            right + QPointF(-4 * s, 5 * s), left + QPointF(0, 5 * s)});
    case Sign::selected:
      painter.setPen(QPen(theme_(Token::accent), 2));
      return painter.drawRoundedRect(box, 4, 4);
    case Sign::hovered:
      painter.setPen(QPen(theme_(Token::text2), 1));
      return painter.drawRoundedRect(box, 3, 3);
    case Sign::edited:
      painter.setPen(Qt::NoPen);
      painter.setBrush(theme_(Token::edited));
      return painter.drawPolygon(QPolygonF{middle + QPointF(-5 * s, -5 * s), middle + QPointF(5 * s, -5 * s),
                                           middle + QPointF(5 * s, 5 * s)});
    case Sign::bypassed: {
      QPen dashes(theme_(Token::text3), 1, Qt::CustomDashLine);
      dashes.setDashPattern({4, 3});
      painter.setPen(dashes);
      return painter.drawRoundedRect(box, 3, 3);
    }
    case Sign::free: {
      QPen dots(quiet, 1, Qt::CustomDashLine);
      dots.setDashPattern({2, 2});
      painter.setPen(dots);
      return painter.drawRoundedRect(box, 2, 2);
    }
    case Sign::folded:
      painter.setPen(QPen(quiet, 1));
      painter.setBrush(theme_(Token::panel));
      for (const double off : {3.0, 0.0}) painter.drawRoundedRect(box.translated(off * s, off * s), 2.5, 2.5);
      return;
  }
}

}  // namespace orrery::ui
