#include "ui/graph/overlays.h"

#include <QMouseEvent>
#include <QPainter>

#include "ui/theme/icons.h"
#include "ui/theme/text_metrics.h"

namespace orrery::ui {

Breadcrumb::Breadcrumb(const Theme& theme, QWidget* parent) : QWidget(parent), theme_(theme) {
  setMouseTracking(true);
  setAccessibleName(tr("Place in the graph"));
}

void Breadcrumb::setTheme(const Theme& theme) {
  theme_ = theme;
  shorten();
}

void Breadcrumb::setRoom(int width) {
  if (width == room_) return;
  room_ = width;
  shorten();
}

void Breadcrumb::shorten() {
  constexpr double kLeastWord = 28;
  shown_ = parts_;
  for (qsizetype i = 0; i < shown_.size() && sizeHint().width() > room_; ++i) {
    const double width = textWidth(shown_[i], fontOf(i));
    shown_[i] = elided(shown_[i], fontOf(i),
                       std::max(theme_.scaled(kLeastWord), width - (sizeHint().width() - room_)));
  }
  resize(sizeHint());
  update();
}

void Breadcrumb::setParts(const QStringList& parts, const QStringList& scopes) {
  if (parts == parts_ && scopes == scopes_) return;
  parts_ = parts;
  scopes_ = scopes;
  hovered_ = -1;
  shorten();
}

QFont Breadcrumb::fontOf(qsizetype part) const {
  return theme_.textFont(12, part + 1 == parts_.size() ? QFont::DemiBold : QFont::Normal);
}

std::vector<QRectF> Breadcrumb::layoutParts() const {
  std::vector<QRectF> rects;
  double x = 4;
  const double height = theme_.scaled(24);
  for (qsizetype i = 0; i < shown_.size(); ++i) {
    const double width = textWidth(shown_[i], fontOf(i));
    rects.emplace_back(x, 0, width, height);
    x += width + theme_.scaled(17);
  }
  return rects;
}

QSize Breadcrumb::sizeHint() const {
  const auto rects = layoutParts();
  return rects.empty() ? QSize(0, 0)
                       : QSize(static_cast<int>(rects.back().right()) + 6, qRound(theme_.scaled(24)));
}

void Breadcrumb::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  QColor ground = theme_(Token::canvas);
  ground.setAlphaF(0.85F);
  painter.setPen(Qt::NoPen);
  painter.setBrush(ground);
  painter.drawRoundedRect(rect(), 4, 4);
  const auto rects = layoutParts();
  for (size_t i = 0; i < rects.size(); ++i) {
    const bool last = i + 1 == rects.size();
    painter.setFont(fontOf(static_cast<qsizetype>(i)));
    painter.setPen(theme_(last || hovered_ == static_cast<int>(i) ? Token::text : Token::text3));
    painter.drawText(rects[i], Qt::AlignVCenter | Qt::AlignLeft | Qt::TextDontClip,
                     shown_[static_cast<qsizetype>(i)]);
    if (!last)
      paintIcon(painter, u"right", QRectF(rects[i].right() + 2, rects[i].center().y() - 6, 12, 12),
                theme_(Token::text3));
  }
}

int Breadcrumb::partAt(const QPointF& point) const {
  const auto rects = layoutParts();
  for (size_t i = 0; i + 1 < rects.size(); ++i)
    if (rects[i].contains(point)) return static_cast<int>(i);
  return -1;
}

void Breadcrumb::mouseMoveEvent(QMouseEvent* event) {
  const int part = partAt(event->position());
  if (part == hovered_) return;
  hovered_ = part;
  setCursor(part >= 0 ? Qt::PointingHandCursor : Qt::ArrowCursor);
  update();
}

void Breadcrumb::mousePressEvent(QMouseEvent* event) {
  const int part = partAt(event->position());
  if (part >= 0 && part < scopes_.size()) emit scopeClicked(scopes_[part]);
}

void Breadcrumb::leaveEvent(QEvent*) {
  hovered_ = -1;
  update();
}

Minimap::Minimap(const Theme& theme, QWidget* parent)
    : FloatingCard(theme, tr("Hide the minimap (M shows it again)"), parent) {
  setAccessibleName(tr("Minimap"));
  setCursor(Qt::PointingHandCursor);
}

void Minimap::setTheme(const Theme& theme) {
  FloatingCard::setTheme(theme);
  refresh();
}

QSize Minimap::sizeHint() const { return {qRound(theme_.scaled(152)), qRound(theme_.scaled(146))}; }

void Minimap::setBounds(const QRectF& bounds) {
  bounds_ = bounds;
  refresh();
}

void Minimap::setView(const QRectF& visible) {
  view_ = visible;
  update();
}

void Minimap::refresh() {
  picture_ = {};
  update();
}

QTransform Minimap::toWidget() const {
  const QRectF area = QRectF(rect()).adjusted(7, 8, -7, -8);
  const double scale = std::min(
      {area.width() / std::max(1.0, bounds_.width()), area.height() / std::max(1.0, bounds_.height()), 0.3});
  QTransform transform;
  transform.translate(area.center().x(), area.center().y());
  transform.scale(scale, scale);
  transform.translate(-bounds_.center().x(), -bounds_.center().y());
  return transform;
}

void Minimap::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  paintCard(painter, theme_, rect());
  if (bounds_.isEmpty()) return;
  const QTransform transform = toWidget();
  if (picture_.isNull() && paint_) {
    picture_ = QPixmap(size() * devicePixelRatioF());
    picture_.setDevicePixelRatio(devicePixelRatioF());
    picture_.fill(Qt::transparent);
    QPainter inner(&picture_);
    inner.setTransform(transform, true);
    paint_(inner, transform.m11());
  }
  painter.drawPixmap(0, 0, picture_);
  QRectF frame = transform.mapRect(view_).intersected(QRectF(rect()).adjusted(3, 3, -3, -3));
  if (frame.isEmpty()) return;
  QColor wash = theme_(Token::accent);
  wash.setAlphaF(0.07F);
  painter.setPen(QPen(theme_(Token::accent), 1.5));
  painter.setBrush(wash);
  painter.drawRoundedRect(frame, 3, 3);
}

void Minimap::mousePressEvent(QMouseEvent* event) { emit goTo(toWidget().inverted().map(event->position())); }

void Minimap::mouseMoveEvent(QMouseEvent* event) {
  if (event->buttons() & Qt::LeftButton) emit goTo(toWidget().inverted().map(event->position()));
}

}  // namespace orrery::ui
