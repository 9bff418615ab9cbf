#include "ui/graph/breadcrumb.h"

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

}  // namespace orrery::ui
