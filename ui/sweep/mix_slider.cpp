#include "ui/sweep/mix_slider.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>
#include <algorithm>
#include <cmath>

#include "ui/theme/format.h"

namespace orrery::ui {
namespace {

constexpr double kKnob = 14, kRail = 4, kSide = 10, kTop = 4, kFoot = 42;  // px
constexpr double kStep = 0.01, kPage = 0.1;                                // of the axis
constexpr double kMostRange = 1e-4;  // distances below this share of the largest lie at the foot

}  // namespace

MixSlider::MixSlider(const Theme& theme, QWidget* parent) : QWidget(parent), theme_(theme) {
  setFocusPolicy(Qt::StrongFocus);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
  setAccessibleName("Size of the mix");
}

QSize MixSlider::sizeHint() const {
  return {static_cast<int>(theme_.scaled(230)), static_cast<int>(theme_.scaled(110))};
}

void MixSlider::setCurve(std::vector<api::Mix> curve) {
  curve_ = std::move(curve);
  low_ = high_ = 0;
  for (const api::Mix& mix : curve_) high_ = std::max(high_, mix.distance);
  for (const api::Mix& mix : curve_)
    if (mix.distance > high_ * kMostRange) low_ = low_ > 0 ? std::min(low_, mix.distance) : mix.distance;
  update();
}

void MixSlider::setMix(uint64_t bytes, double distance) {
  bytes_ = bytes;
  distance_ = distance;
  update();
}

QRectF MixSlider::ground() const {
  return QRectF(rect()).adjusted(theme_.scaled(kSide), theme_.scaled(kTop), -theme_.scaled(kSide),
                                 -theme_.scaled(kFoot));
}

double MixSlider::xOf(uint64_t bytes) const {
  const auto least = static_cast<double>(curve_.front().bytes),
             most = static_cast<double>(curve_.back().bytes);
  const double share = most > least ? (static_cast<double>(bytes) - least) / (most - least) : 0;
  return ground().left() + std::clamp(share, 0.0, 1.0) * ground().width();
}

double MixSlider::yOf(double distance) const {
  const double share =
      distance > low_ && high_ > low_ ? std::log(distance / low_) / std::log(high_ / low_) : 0;
  return ground().bottom() - std::clamp(share, 0.0, 1.0) * ground().height();
}

void MixSlider::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const QRectF area = ground();
  painter.setPen(QPen(theme_(Token::border), 1));
  for (const double share : {0.0, 0.5, 1.0}) {
    const double y = std::round(area.top() + share * area.height()) + 0.5;
    painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y));
  }
  const double rail = area.bottom() + theme_.scaled(14);
  const QRectF whole(area.left(), rail - theme_.scaled(kRail) / 2, area.width(), theme_.scaled(kRail));
  painter.setPen(Qt::NoPen);
  painter.setBrush(theme_(Token::sunken));
  painter.drawRoundedRect(whole, 2, 2);
  if (curve_.empty()) return;
  QPainterPath path(QPointF(xOf(curve_.front().bytes), yOf(curve_.front().distance)));
  for (const api::Mix& mix : curve_) path.lineTo(xOf(mix.bytes), yOf(mix.distance));
  painter.setBrush(Qt::NoBrush);
  painter.setPen(QPen(theme_(Token::text2), 1.6, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
  painter.drawPath(path);
  const double x = xOf(bytes_), y = yOf(distance_);
  painter.setPen(QPen(theme_(Token::accent), 1, Qt::DotLine));
  painter.drawLine(QPointF(x, y), QPointF(x, rail));
  painter.setPen(Qt::NoPen);
  painter.setBrush(theme_(Token::accent));
  painter.drawRoundedRect(QRectF(whole.left(), whole.top(), x - whole.left(), whole.height()), 2, 2);
  painter.drawEllipse(QPointF(x, y), 3, 3);
  painter.setPen(QPen(theme_(Token::accent), 2));
  painter.setBrush(theme_(Token::raised));
  const double radius = theme_.scaled(kKnob) / 2;
  painter.drawEllipse(QPointF(x, rail), radius, radius);
  if (hasFocus()) {
    painter.setBrush(Qt::NoBrush);
    painter.drawEllipse(QPointF(x, rail), radius + 3, radius + 3);
  }
  painter.setFont(theme_.monoFont(10));
  painter.setPen(theme_(Token::text3));
  const QRectF words(area.left() - theme_.scaled(kSide), rail + radius + 2,
                     area.width() + 2 * theme_.scaled(kSide), theme_.scaled(16));
  painter.drawText(words, Qt::AlignLeft | Qt::AlignVCenter,
                   format::bytes(static_cast<double>(curve_.front().bytes)));
  painter.drawText(words, Qt::AlignRight | Qt::AlignVCenter,
                   format::bytes(static_cast<double>(curve_.back().bytes)));
}

void MixSlider::choose(uint64_t bytes) {
  if (curve_.empty()) return;
  bytes_ = std::clamp(bytes, curve_.front().bytes, curve_.back().bytes);
  update();
  emit bytesChosen(bytes_);
}

void MixSlider::take(double x) {
  if (curve_.empty() || ground().width() <= 0) return;
  const double share = std::clamp((x - ground().left()) / ground().width(), 0.0, 1.0);
  const auto least = static_cast<double>(curve_.front().bytes),
             most = static_cast<double>(curve_.back().bytes);
  choose(static_cast<uint64_t>(least + share * (most - least)));
}

void MixSlider::mousePressEvent(QMouseEvent* event) {
  if (event->button() == Qt::LeftButton) take(event->position().x());
}

void MixSlider::mouseMoveEvent(QMouseEvent* event) {
  if (event->buttons() & Qt::LeftButton) take(event->position().x());
}

void MixSlider::keyPressEvent(QKeyEvent* event) {
  if (curve_.empty()) return QWidget::keyPressEvent(event);
  const double range = static_cast<double>(curve_.back().bytes - curve_.front().bytes);
  const auto move = [&](double share) {
    choose(static_cast<uint64_t>(std::max(static_cast<double>(bytes_) + share * range, 0.0)));
  };
  switch (event->key()) {
    case Qt::Key_Left:
    case Qt::Key_Down:
      return move(-kStep);
    case Qt::Key_Right:
    case Qt::Key_Up:
      return move(kStep);
    case Qt::Key_PageDown:
      return move(-kPage);
    case Qt::Key_PageUp:
      return move(kPage);
    case Qt::Key_Home:
      return choose(curve_.front().bytes);
    case Qt::Key_End:
      return choose(curve_.back().bytes);
    default:
      QWidget::keyPressEvent(event);
  }
}

void MixSlider::setTheme(const Theme& theme) {
  theme_ = theme;
  updateGeometry();
  update();
}

}  // namespace orrery::ui
