#include "ui/graph/overlays.h"

#include <QFontMetricsF>
#include <QKeyEvent>
#include <QLinearGradient>
#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>

#include "ui/theme/icons.h"

namespace orrery::ui {
namespace {

constexpr double kPopupRadius = 7;

}  // namespace

void paintCard(QPainter& painter, const Theme& theme, const QRectF& rect) {
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(Theme::blend(theme(Token::border), theme(Token::edge), 0.3), 1));
  painter.setBrush(theme(Token::panel));
  painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), kPopupRadius, kPopupRadius);
}

Breadcrumb::Breadcrumb(const Theme& theme, QWidget* parent) : QWidget(parent), theme_(theme) {
  setMouseTracking(true);
  setAccessibleName(tr("Place in the graph"));
}

void Breadcrumb::setTheme(const Theme& theme) {
  theme_ = theme;
  resize(sizeHint());
  update();
}

void Breadcrumb::setParts(const QStringList& parts, const QStringList& scopes) {
  if (parts == parts_ && scopes == scopes_) return;
  parts_ = parts;
  scopes_ = scopes;
  hovered_ = -1;
  resize(sizeHint());
  update();
}

QFont Breadcrumb::fontOf(qsizetype part) const {
  return theme_.textFont(12, part + 1 == parts_.size() ? QFont::DemiBold : QFont::Normal);
}

std::vector<QRectF> Breadcrumb::layoutParts() const {
  std::vector<QRectF> rects;
  double x = 4;
  const double height = theme_.scaled(24);
  for (qsizetype i = 0; i < parts_.size(); ++i) {
    const double width = QFontMetricsF(fontOf(i)).horizontalAdvance(parts_[i]);
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
                     parts_[static_cast<qsizetype>(i)]);
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

Legend::Legend(const Theme& theme, QWidget* parent) : QWidget(parent), theme_(theme) {
  setFocusPolicy(Qt::TabFocus);
  setAccessibleName(tr("Colour scale"));
  setToolTip(tr("Scale of the colours: logarithmic or linear"));
}

void Legend::setTheme(const Theme& theme) {
  theme_ = theme;
  resize(sizeHint());
  update();
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

QSize Legend::sizeHint() const {
  return {qRound(theme_.scaled(ratio_ ? 232 : 152)), qRound(theme_.scaled(62))};
}

QRectF Legend::switchRect() const {
  const double s = theme_.scaled(1);
  return {width() - 64 * s, 6 * s, 52 * s, 16 * s};
}

void Legend::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  paintCard(painter, theme_, rect());
  ratio_ ? paintEnds(painter) : paintSwitch(painter);
  paintScale(painter);
}

void Legend::paintSwitch(QPainter& painter) const {
  const double s = theme_.scaled(1);
  painter.setPen(theme_(Token::text));
  painter.setFont(theme_.textFont(12, QFont::DemiBold));
  painter.drawText(QRectF(12 * s, 5 * s, width(), 18 * s), Qt::AlignVCenter | Qt::AlignLeft, title_);
  const QRectF both = switchRect();
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
  const double s = theme_.scaled(1), half = width() / 2.0 - 12 * s, mark = 14 * s;
  const QFont font = theme_.textFont(11.5, QFont::Medium);
  painter.setFont(font);
  for (const size_t end : {0, 1}) {
    const QString words =
        QFontMetricsF(font).elidedText(ends_[end].name + tr(" faster"), Qt::ElideMiddle, half - mark - 2 * s);
    const QRectF row(end == 0 ? 12 * s : width() / 2.0, 5 * s, half, 18 * s);
    paintMark(painter, ends_[end],
              QPointF(end == 0 ? row.left() + 4 * s : row.right() - 4 * s, row.center().y()), 7 * s, theme_);
    painter.setPen(theme_(Token::text));
    painter.drawText(end == 0 ? row.adjusted(mark, 0, 0, 0) : row.adjusted(0, 0, -mark, 0),
                     Qt::AlignVCenter | (end == 0 ? Qt::AlignLeft : Qt::AlignRight), words);
  }
}

void Legend::paintScale(QPainter& painter) const {
  const double s = theme_.scaled(1), left = 12 * s, right = width() - 12 * s;
  const QRectF bar(left, 27 * s, right - left, 9 * s);
  QLinearGradient scale(bar.topLeft(), bar.topRight());
  for (int i = 0; i <= 16; ++i)
    scale.setColorAt(i / 16.0, ratio_ ? theme_.ratio(i / 2.0 - 4) : theme_.heat(i / 16.0));
  painter.setPen(Qt::NoPen);
  painter.setBrush(scale);
  painter.drawRoundedRect(bar, 2, 2);
  painter.setFont(theme_.monoFont(10));
  for (size_t i = 0; i < ticks_.size() && ticks_.size() > 1; ++i) {
    const double x = left + (right - left) * static_cast<double>(i) / static_cast<double>(ticks_.size() - 1);
    painter.setPen(QPen(theme_(Token::text3), 1));
    painter.drawLine(QPointF(x, bar.bottom()), QPointF(x, bar.bottom() + 3.5 * s));
    painter.setPen(theme_(Token::text2));
    const Qt::AlignmentFlag side = i == 0                   ? Qt::AlignLeft
                                   : i + 1 == ticks_.size() ? Qt::AlignRight
                                                            : Qt::AlignHCenter;
    const double room = 40 * s, from = side == Qt::AlignLeft    ? x
                                       : side == Qt::AlignRight ? x - room
                                                                : x - room / 2;
    painter.drawText(QRectF(from, bar.bottom() + 5 * s, room, 14 * s),
                     Qt::AlignVCenter | side | Qt::TextDontClip, ticks_[i]);
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

Minimap::Minimap(const Theme& theme, QWidget* parent) : QWidget(parent), theme_(theme) {
  setAccessibleName(tr("Minimap"));
  setCursor(Qt::PointingHandCursor);
}

void Minimap::setTheme(const Theme& theme) {
  theme_ = theme;
  resize(sizeHint());
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
