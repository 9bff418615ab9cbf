#include "ui/graph/step_strip.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "ui/theme/format.h"
#include "ui/theme/text_metrics.h"

namespace orrery::ui {
namespace {

// At body 13: from the left, and how wide.
struct Lane {
  double left, width;
};
Lane laneOf(StepLevel level) {
  switch (level) {
    case StepLevel::column:
      return {8, 11};
    case StepLevel::layer:
      return {21, 11};
    case StepLevel::half:
      return {33, 10};
    case StepLevel::op:
      return {44, 11};
    case StepLevel::wide:
      return {21, 34};
  }
  return {};
}

/// 1, 2 or 5 times a power of ten, so that some five fit.
double tickStep(double total) {
  const double rough = total / 5, power = std::pow(10, std::floor(std::log10(rough)));
  for (const double step : {1.0, 2.0, 5.0, 10.0})
    if (rough <= step * power * 1.0001) return step * power;
  return 10 * power;
}

struct Unit {
  double us;
  QString name;
};
Unit unitOf(double total) {
  if (total >= 2e6) return {1e6, QStringLiteral("s")};
  if (total >= 2e3) return {1e3, QStringLiteral("ms")};
  return {1, QStringLiteral("µs")};
}

}  // namespace

StepStrip::StepStrip(const Theme& theme, QWidget* parent) : QWidget(parent), theme_(theme) {
  setMouseTracking(true);
  setAccessibleName(tr("Step, in the order it runs"));
}

void StepStrip::setTheme(const Theme& theme) {
  theme_ = theme;
  picture_ = {};
  updateGeometry();
  update();
}

void StepStrip::setParts(std::vector<StepPart> parts, bool ratio) {
  if (parts.empty() && parts_.empty()) return;
  parts_ = std::move(parts);
  ratio_ = ratio;
  total_ = 0;
  for (const StepPart& part : parts_) total_ = std::max(total_, part.start + part.us);
  under_ = nullptr;
  picture_ = {};
  update();
}

void StepStrip::setMarks(std::optional<Span> chosen, std::optional<Span> hovered) {
  const auto same = [](const std::optional<Span>& a, const std::optional<Span>& b) {
    return a.has_value() == b.has_value() && (!a || (a->begin == b->begin && a->end == b->end));
  };
  if (same(chosen, chosen_) && same(hovered, hovered_)) return;
  chosen_ = chosen;
  hovered_ = hovered;
  update();
}

QSize StepStrip::sizeHint() const { return {qRound(px(kStepWidth)), qRound(px(200))}; }

double StepStrip::yOf(double us) const {
  return top() + (total_ > 0 ? us / total_ : 0) * (height() - top() - px(8));
}

QRectF StepStrip::barOf(const StepPart& part) const {
  const Lane lane = laneOf(part.level);
  const double y = yOf(part.start);
  return {px(lane.left), y, px(lane.width), yOf(part.start + part.us) - y};
}

void StepStrip::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  if (picture_.isNull()) {
    picture_ = QPixmap(size() * devicePixelRatioF());
    picture_.setDevicePixelRatio(devicePixelRatioF());
    picture_.fill(theme_(Token::panel));
    QPainter into(&picture_);
    paintParts(into);
  }
  painter.drawPixmap(0, 0, picture_);
  painter.setRenderHint(QPainter::Antialiasing);
  if (hovered_) paintFrame(painter, *hovered_, theme_(Token::text), 1.4);
  if (chosen_) paintFrame(painter, *chosen_, theme_(Token::accent), 1.8);
}

void StepStrip::paintParts(QPainter& painter) const {
  const QFont title = theme_.textFont(11, QFont::DemiBold), note = theme_.textFont(10.5);
  painter.setPen(theme_(Token::text));
  drawLabel(painter, QPointF(px(8), px(14.5)), tr("Step"), title);
  painter.setPen(theme_(Token::text3));
  if (parts_.empty()) {
    const QString words = tr("measured when it runs");
    painter.translate(px(kStepWidth) / 2, top() + textWidth(words, note));
    painter.rotate(-90);
    return drawLabel(painter, QPointF(0, px(4)), words, note);
  }
  drawLabel(painter, QPointF(px(8) + textWidth(tr("Step"), title) + px(6), px(14.5)),
            tr("in %1").arg(unitOf(total_).name), note);
  double shown[5] = {};  // y up to which a lane is painted: of what is thinner than a pixel the first shows
  for (const StepPart& part : parts_) {
    double& last = shown[static_cast<size_t>(part.level)];
    const QRectF bar = barOf(part);
    if (bar.bottom() < last + 0.5) continue;
    last = bar.bottom();
    paintPart(painter, part);
  }
  paintTicks(painter);
}

void StepStrip::paintPart(QPainter& painter, const StepPart& part) const {
  QRectF bar = barOf(part);
  const double gap = bar.height() > 2 ? 0.5 : 0;
  bar.adjust(0, 0, 0, -gap);
  const QColor color = part.level == StepLevel::column ? theme_(Token::hover)
                       : std::isnan(part.heat)         ? theme_(Token::borderStrong)
                       : ratio_                        ? theme_.ratio(8 * part.heat - 4)
                                                       : theme_.heat(part.heat);
  painter.fillRect(bar, color);
  const bool named = part.level == StepLevel::column || part.level == StepLevel::wide;
  const QFont font = theme_.textFont(9, QFont::Medium);
  if (!named || textWidth(part.name, font) + 6 > bar.height()) return;
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(part.level == StepLevel::column ? theme_(Token::text) : Theme::textOn(color));
  painter.translate(bar.center());
  painter.rotate(-90);
  painter.setFont(font);
  painter.drawText(QRectF(-bar.height() / 2, -px(8), bar.height(), px(16)), Qt::AlignCenter, part.name);
  painter.restore();
}

void StepStrip::paintTicks(QPainter& painter) const {
  const double all = total_, step = tickStep(all);
  const Unit unit = unitOf(all);
  const bool several = QString::number(std::floor(all / step) * step / unit.us, 'g', 4).size() > 1;
  const QFont font = theme_.monoFont(several ? 9 : 10);
  for (double at = 0; at <= all; at += step) {
    const double y = std::floor(yOf(at)) + 0.5;
    painter.setPen(theme_(Token::border));
    painter.drawLine(QPointF(px(57), y), QPointF(px(61), y));
    const QString text = QString::number(at / unit.us, 'g', 4);
    painter.setPen(theme_(Token::text3));
    drawLabel(painter,
              QPointF(px(kStepWidth - 3) - textWidth(text, font), std::max(y + px(4), top() + px(5))), text,
              font);
  }
}

void StepStrip::paintFrame(QPainter& painter, Span span, const QColor& color, double width) const {
  double from = 1e300, to = 0;
  bool wide = false;
  for (const StepPart& part : parts_) {
    if (part.level == StepLevel::column || part.begin < span.begin || part.end > span.end) continue;
    from = std::min(from, part.start);
    to = std::max(to, part.start + part.us);
    wide |= part.level == StepLevel::layer || part.level == StepLevel::wide;
  }
  if (to <= 0) return;
  const double left = wide ? 19.5 : 31.5;
  painter.setPen(QPen(color, width));
  painter.setBrush(Qt::NoBrush);
  painter.drawRoundedRect(
      QRectF(px(left), yOf(from) - 1.5, px(56.5 - left), std::max(3.0, yOf(to) - yOf(from) + 2.5)), 2, 2);
}

const StepPart* StepStrip::partAt(const QPointF& point) const {
  const StepPart* found = nullptr;
  for (const StepPart& part : parts_) {
    const QRectF bar = barOf(part).adjusted(-px(1), 0, px(1), 0.5);
    if (bar.contains(point)) found = &part;  // ops come after what they are in
  }
  return found;
}

void StepStrip::mouseMoveEvent(QMouseEvent* event) {
  const StepPart* part = partAt(event->position());
  if (part == under_) return;
  under_ = part;
  setCursor(part && part->level != StepLevel::column ? Qt::PointingHandCursor : Qt::ArrowCursor);
  emit hovered(part ? part->group : -1, part ? part->node : -1);
}

void StepStrip::mousePressEvent(QMouseEvent* event) {
  const StepPart* part = event->button() == Qt::LeftButton ? partAt(event->position()) : nullptr;
  if (part && part->level != StepLevel::column) emit chosen(part->group, part->node);
}

void StepStrip::leaveEvent(QEvent*) {
  if (under_) emit hovered(-1, -1);
  under_ = nullptr;
}

void StepStrip::resizeEvent(QResizeEvent*) { picture_ = {}; }

bool StepStrip::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const StepPart* part = partAt(help->pos());
  if (part)
    QToolTip::showText(help->globalPos(),
                       part->name + '\n' + format::time(part->us) + ", " + format::percent(part->us / total_),
                       this);
  else
    QToolTip::hideText();
  return true;
}

}  // namespace orrery::ui
