#include "ui/graph/minimap.h"

#include <QAbstractButton>
#include <QMouseEvent>
#include <QPainter>
#include <algorithm>

#include "ui/theme/icons.h"
#include "ui/theme/text_metrics.h"

namespace orrery::ui {
namespace {

// At body 13.
constexpr double kMinimapWidth = 206, kMapWidth = 118, kMapHeight = 84, kMapTop = 6, kClose = 24, kCross = 14;

class CloseMark : public QAbstractButton {
 public:
  CloseMark(const Theme& theme, QWidget* parent) : QAbstractButton(parent), theme_(theme) {
    setFocusPolicy(Qt::NoFocus);
    setCursor(Qt::PointingHandCursor);
  }
  void setTheme(const Theme& theme) { theme_ = theme; }

 protected:
  void paintEvent(QPaintEvent*) override {
    QPainter painter(this);
    const double side = theme_.scaled(kCross);
    paintIcon(painter, u"close", QRectF((width() - side) / 2, (height() - side) / 2, side, side),
              theme_(underMouse() ? Token::text : Token::text3));
  }
  void enterEvent(QEnterEvent*) override { update(); }
  void leaveEvent(QEvent*) override { update(); }

 private:
  Theme theme_;
};

}  // namespace

Minimap::Minimap(const Theme& theme, QWidget* parent)
    : StripSection(theme, parent), close_(new CloseMark(theme, this)) {
  setAccessibleName(tr("Minimap"));
  close_->setToolTip(tr("Hide the minimap (M shows it again)"));
  close_->setAccessibleName(close_->toolTip());
  setMouseTracking(true);
  connect(close_, &QAbstractButton::clicked, this, &Minimap::closeAsked);
}

void Minimap::setTheme(const Theme& theme) {
  StripSection::setTheme(theme);
  static_cast<CloseMark*>(close_)->setTheme(theme);
  refresh();
}

QSize Minimap::sizeHint() const { return {qRound(px(kMinimapWidth)), qRound(px(kStripHeight))}; }

void Minimap::setWords(const QString& title, const QString& detail) {
  if (title == title_ && detail == detail_) return;
  title_ = title;
  detail_ = detail;
  update();
}

void Minimap::setBounds(const QRectF& bounds) {
  bounds_ = bounds;
  refresh();
}

void Minimap::setView(const QRectF& visible) {
  view_ = visible;
  update();
}

void Minimap::setLens(const QRectF& area) {
  if (area == lens_) return;
  lens_ = area;
  update();
}

void Minimap::refresh() {
  picture_ = {};
  update();
}

QRectF Minimap::map() const {
  return {width() - px(kInset) - px(kMapWidth), px(kMapTop), px(kMapWidth), px(kMapHeight)};
}

QTransform Minimap::toWidget() const {
  const QRectF area = map().adjusted(4, 4, -4, -4);
  const double scale = std::min(
      {area.width() / std::max(1.0, bounds_.width()), area.height() / std::max(1.0, bounds_.height()), 0.3});
  QTransform transform;
  transform.translate(area.center().x(), area.center().y());
  transform.scale(scale, scale);
  transform.translate(-bounds_.center().x(), -bounds_.center().y());
  return transform;
}

void Minimap::resizeEvent(QResizeEvent*) {
  const int side = qRound(px(kClose));
  close_->setGeometry(qRound(map().left()) - side - 2, qRound(px(3)), side, side);
  picture_ = {};
}

void Minimap::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  paintTitle(painter, title_, {}, close_->x());
  const QFont detailFont = theme_.textFont(10.5), keyFont = theme_.monoFont(10);
  painter.setPen(theme_(Token::text3));
  drawLabel(painter, QPointF(px(kInset), px(38)), detail_, detailFont);
  const QRectF key(px(kInset) + 0.5, px(50) + 0.5, px(13), px(14));
  painter.setPen(QPen(theme_(Token::border), 1));
  painter.setBrush(Qt::NoBrush);
  painter.drawRoundedRect(key, 2.5, 2.5);
  painter.setPen(theme_(Token::text2));
  drawLabel(painter, key, Qt::AlignHCenter, QStringLiteral("M"), keyFont);
  painter.setPen(theme_(Token::text3));
  drawLabel(painter, QRectF(key.right() + px(7), key.top(), px(40), key.height()), Qt::AlignLeft, tr("hide"),
            detailFont);
  painter.setPen(Qt::NoPen);
  painter.setBrush(theme_(Token::canvas));
  painter.drawRoundedRect(map(), 3, 3);
  if (!bounds_.isEmpty()) paintFrames(painter);
}

void Minimap::paintFrames(QPainter& painter) const {
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
  if (!lens_.isNull()) {
    painter.setPen(QPen(theme_(Token::text), 1));
    painter.setBrush(Qt::NoBrush);
    painter.drawRoundedRect(transform.mapRect(lens_), 1.5, 1.5);
  }
  const QRectF frame = transform.mapRect(view_).intersected(map().adjusted(0.75, 0.75, -0.75, -0.75));
  if (frame.isEmpty()) return;
  QColor wash = theme_(Token::accent);
  wash.setAlphaF(0.1F);
  painter.setPen(QPen(theme_(Token::accent), 1.5));
  painter.setBrush(wash);
  painter.drawRoundedRect(frame, 3, 3);
}

void Minimap::mousePressEvent(QMouseEvent* event) {
  if (map().contains(event->position())) emit goTo(toWidget().inverted().map(event->position()));
}

void Minimap::mouseMoveEvent(QMouseEvent* event) {
  setCursor(map().contains(event->position()) ? Qt::PointingHandCursor : Qt::ArrowCursor);
  if (event->buttons() & Qt::LeftButton) emit goTo(toWidget().inverted().map(event->position()));
}

}  // namespace orrery::ui
