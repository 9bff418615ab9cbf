#include "ui/lab/roofline_marks.h"

#include <algorithm>

#include "ui/lab/roofline_plot.h"
#include "ui/theme/text_metrics.h"

namespace orrery::ui {
namespace {

constexpr double kSide = 14, kRadius = 3, kRingOff = 2, kWire = 1.5, kOther = 8, kPublished = 9,
                 kRival = 1.4;  // px

}  // namespace

RooflineMarks::RooflineMarks(RooflinePlot* plot) : QCPLayerable(plot, "overlay"), plot_(plot) {}

void RooflineMarks::applyDefaultAntialiasingHint(QCPPainter* painter) const {
  painter->setAntialiasing(true);
}

void RooflineMarks::draw(QCPPainter* painter) {
  const Theme& theme = plot_->theme_;
  const std::vector<RooflinePoint>& points = plot_->points_;
  painter->setBrush(Qt::NoBrush);
  for (const Token token : {Token::cpu, Token::cuda}) {  // from the slowest to the fastest of a device
    double low = 0, high = 0, x = 0;
    for (const RooflinePoint& point : points) {
      if (point.token != token) continue;
      const double y = plot_->yAxis->coordToPixel(point.y);
      low = low > 0 ? std::max(low, y) : y;
      high = high > 0 ? std::min(high, y) : y;
      x = plot_->xAxis->coordToPixel(point.x);
    }
    if (low <= high) continue;
    painter->setPen(QPen(theme(token), kWire));
    painter->drawLine(QLineF(x, low, x, high));
  }
  for (const OtherProblem& other : plot_->others_) {
    const double half = theme.scaled(kOther) / 2;
    const QPointF at(plot_->xAxis->coordToPixel(other.x), plot_->yAxis->coordToPixel(other.y));
    painter->setPen(QPen(theme(other.token), 1.4));
    painter->setBrush(theme(Token::panel));
    other.token == Token::cuda ? painter->drawRect(QRectF(at.x() - half, at.y() - half, 2 * half, 2 * half))
                               : painter->drawEllipse(at, half, half);
  }
  drawPublished(painter);
  drawRivals(painter);
  for (const RooflinePoint& point : points)
    if (point.number != plot_->chosen_) drawPoint(painter, point);
  for (const RooflinePoint& point : points)  // above the others
    if (point.number == plot_->chosen_) drawPoint(painter, point);
}

/// Hollow diamonds; the fastest has its name.
void RooflineMarks::drawPublished(QCPPainter* painter) const {
  const Theme& theme = plot_->theme_;
  const double half = theme.scaled(kPublished) / 2;
  painter->setPen(QPen(theme(Token::text2), 1.4));
  painter->setBrush(theme(Token::panel));
  for (const PublishedMark& mark : plot_->published_) {
    const QPointF at = plot_->placeOf(mark);
    painter->drawPolygon(QPolygonF(
        {at + QPointF(0, -half), at + QPointF(half, 0), at + QPointF(0, half), at + QPointF(-half, 0)}));
  }
  if (plot_->published_.empty()) return;
  const PublishedMark& fastest = plot_->published_.front();
  const QPointF end = plot_->placeOf(fastest) - QPointF(theme.scaled(kPublished), 0);
  const QRectF words(plot_->axisRect()->left(), end.y() - theme.scaled(kPublished),
                     end.x() - plot_->axisRect()->left(), theme.scaled(2 * kPublished));
  painter->setFont(theme.textFont(10.5));
  painter->drawText(words, Qt::AlignRight | Qt::AlignVCenter,
                    elided(fastest.name, theme.textFont(10.5), words.width()));
}

/// Dashed lines across the rows, with the library's name at the right, or where that has no room above it.
void RooflineMarks::drawRivals(QCPPainter* painter) const {
  const Theme& theme = plot_->theme_;
  const QFont font = theme.textFont(10.5);
  painter->setBrush(Qt::NoBrush);
  for (const RivalLine& rival : plot_->rivals_) {
    const QLineF line = plot_->lineOf(rival);
    painter->setPen(
        QPen(theme(rival.number == plot_->chosen_ ? Token::accent : Token::text), kRival, Qt::DashLine));
    painter->drawLine(line);
    painter->setPen(theme(Token::text));
    painter->setFont(font);
    const double high = theme.scaled(16), beside = plot_->axisRect()->right() - line.x2() - 4;
    if (textWidth(rival.name, font) <= beside) {
      drawLabel(*painter, QRectF(line.x2() + 4, line.y2() - high / 2, beside, high), Qt::AlignLeft,
                rival.name, font);
      continue;
    }
    const double half = (line.x2() - line.x1()) / 2 - theme.scaled(kSide);  // at the left of the rows
    drawLabel(*painter, QRectF(line.x1(), line.y1() - high - 1, half, high), Qt::AlignLeft,
              elided(rival.name, font, half), font);
  }
}

void RooflineMarks::drawPoint(QCPPainter* painter, const RooflinePoint& point) const {
  const Theme& theme = plot_->theme_;
  const double side = theme.scaled(kSide);
  const QRectF box(point.at.x() - side / 2, point.at.y() - side / 2, side, side);
  const QColor color = theme(point.token), ground = point.stored ? theme(Token::panel) : color;
  const auto shape = [&](const QRectF& rect) {
    const double radius = point.square ? kRadius : rect.height() / 2;
    painter->drawRoundedRect(rect, radius, radius);
  };
  painter->setPen(QPen(point.stored ? color : theme(Token::panel), 1.2));
  painter->setBrush(ground);
  shape(box);
  if (point.number == plot_->chosen_) {
    painter->setPen(QPen(theme(Token::accent), 2));
    painter->setBrush(Qt::NoBrush);
    shape(box.adjusted(-kRingOff - 1, -kRingOff - 1, kRingOff + 1, kRingOff + 1));
  }
  painter->setFont(theme.monoFont(point.number < 10 ? 9 : 8, QFont::DemiBold));
  painter->setPen(point.stored ? color : Theme::textOn(color));
  painter->drawText(box, Qt::AlignCenter, QString::number(point.number));
}

}  // namespace orrery::ui
