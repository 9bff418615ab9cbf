#include "ui/theme/icons.h"

#include <QFile>
#include <QHash>
#include <QIconEngine>
#include <QPaintEngine>
#include <QPainter>
#include <QPixmap>
#include <QPixmapCache>
#include <QSvgRenderer>
#include <array>
#include <cmath>

/// Resources of a static library are not registered by the loader. Outside of every namespace, as Qt asks.
static void registerResources() { Q_INIT_RESOURCE(orrery); }

namespace orrery::ui {
namespace {

/// The file's text, null where there is no such icon.
QByteArray source(const QString& name) {
  static const bool registered = (registerResources(), true);
  static QHash<QString, QByteArray> sources;  // GUI thread only, as all painting
  Q_UNUSED(registered);
  const auto known = sources.constFind(name);
  if (known != sources.constEnd()) return *known;
  QFile file(QStringLiteral(":/orrery/icons/%1.svg").arg(name));
  const QByteArray text = file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
  return *sources.insert(name, text);
}

/// A parsed icon in one colour; null for an unknown name.
QSvgRenderer* renderer(const QString& name, const QColor& color) {
  static QHash<std::pair<QString, QRgb>, QSvgRenderer*> renderers;
  const std::pair<QString, QRgb> key(name, color.rgba());
  if (const auto known = renderers.constFind(key); known != renderers.constEnd()) return *known;
  QByteArray text = source(name);
  if (text.isEmpty()) return nullptr;
  text.replace("currentColor", color.name().toLatin1());
  if (renderers.size() > 512) {  // colours come and go with themes; glyphs of heat colours never get here
    qDeleteAll(renderers);
    renderers.clear();
  }
  auto* svg = new QSvgRenderer(text);
  svg->setAspectRatioMode(Qt::KeepAspectRatio);
  return *renderers.insert(key, svg);
}

/// The icon in pixels, from Qt's cache of pixmaps.
QPixmap rendered(QSvgRenderer& svg, const QString& name, const QColor& color, const QSize& size) {
  const QString key = QStringLiteral("orrery/%1/%2/%3x%4")
                          .arg(name, color.name(QColor::HexArgb))
                          .arg(size.width())
                          .arg(size.height());
  QPixmap pixmap;
  if (QPixmapCache::find(key, &pixmap)) return pixmap;
  pixmap = QPixmap(size);
  pixmap.fill(Qt::transparent);
  QPainter painter(&pixmap);
  painter.setRenderHint(QPainter::Antialiasing);
  svg.render(&painter, QRectF(QPointF(), size));
  painter.end();
  QPixmapCache::insert(key, pixmap);
  return pixmap;
}

class Engine : public QIconEngine {
 public:
  using Colors = std::array<QColor, 3>;  // normal, strong, disabled
  Engine(QString name, const Colors& colors) : name_(std::move(name)), colors_(colors) {}

  void paint(QPainter* painter, const QRect& rect, QIcon::Mode mode, QIcon::State) override {
    const bool strong = mode == QIcon::Active || mode == QIcon::Selected;
    paintIcon(*painter, name_, rect, colors_[mode == QIcon::Disabled ? 2 : strong ? 1 : 0]);
  }
  QPixmap pixmap(const QSize& size, QIcon::Mode mode, QIcon::State state) override {
    QPixmap pixmap(size);
    pixmap.fill(Qt::transparent);
    QPainter painter(&pixmap);
    paint(&painter, QRect(QPoint(), size), mode, state);
    return pixmap;
  }
  QPixmap scaledPixmap(const QSize& size, QIcon::Mode mode, QIcon::State state, qreal) override {
    return pixmap(size, mode, state);  // the size already counts device pixels
  }
  QIconEngine* clone() const override { return new Engine(name_, colors_); }
  QString key() const override { return QStringLiteral("orrery"); }

 private:
  QString name_;
  Colors colors_;
};

QIcon make(QStringView name, const Engine::Colors& colors) {
  if (source(name.toString()).isEmpty()) return {};
  return QIcon(new Engine(name.toString(), colors));
}

}  // namespace

QIcon icon(QStringView name, const Theme& theme) {
  return make(name, {theme(Token::text2), theme(Token::text), theme(Token::disabled)});
}

QIcon icon(QStringView name, const Theme& theme, Token token) {
  return make(name, {theme(token), theme(token), theme(Token::disabled)});
}

bool paintIcon(QPainter& painter, QStringView name, const QRectF& rect, const QColor& color) {
  const QString key = name.toString();
  QSvgRenderer* svg = renderer(key, color);
  if (!svg) return false;
  const QTransform transform = painter.deviceTransform();
  const bool raster = painter.paintEngine() && painter.paintEngine()->type() == QPaintEngine::Raster;
  if (raster && transform.type() <= QTransform::TxScale) {
    // Rendered once for its size in pixels, then copied: a graph draws hundreds of glyphs a frame.
    const QSize size = (rect.size() * transform.m11()).toSize().expandedTo(QSize(1, 1));
    // Pixel on pixel: anything else would drop or double a row.
    const QPointF corner = transform.map(rect.topLeft());
    const QPointF aligned = transform.inverted().map(QPointF(std::round(corner.x()), std::round(corner.y())));
    painter.drawPixmap(QRectF(aligned, QSizeF(size) / transform.m11()), rendered(*svg, key, color, size),
                       QRectF(QPointF(), size));
    return true;
  }
  const bool smooth = painter.testRenderHint(QPainter::Antialiasing);
  painter.setRenderHint(QPainter::Antialiasing);
  svg->render(&painter, rect);
  painter.setRenderHint(QPainter::Antialiasing, smooth);
  return true;
}

QStringView glyphName(graph::OpFamily family) {
  switch (family) {
    case graph::OpFamily::attention:
      return u"g-attention";
    case graph::OpFamily::linear:
      return u"g-linear";
    case graph::OpFamily::norm:
      return u"g-norm";
    case graph::OpFamily::activation:
      return u"g-activation";
    case graph::OpFamily::elementwise:
      return u"g-elementwise";
    case graph::OpFamily::embedding:
      return u"g-embedding";
    case graph::OpFamily::sampling:
      return u"g-sampling";
    case graph::OpFamily::data_movement:
      return u"g-movement";
    case graph::OpFamily::source:
      return u"weights";
    case graph::OpFamily::custom:
      return u"g-custom";
  }
  return u"g-custom";
}

QString familyName(graph::OpFamily family) {
  switch (family) {
    case graph::OpFamily::attention:
      return QStringLiteral("attention");
    case graph::OpFamily::linear:
      return QStringLiteral("linear");
    case graph::OpFamily::norm:
      return QStringLiteral("norm");
    case graph::OpFamily::activation:
      return QStringLiteral("activation");
    case graph::OpFamily::elementwise:
      return QStringLiteral("elementwise");
    case graph::OpFamily::embedding:
      return QStringLiteral("embedding");
    case graph::OpFamily::sampling:
      return QStringLiteral("sampling");
    case graph::OpFamily::data_movement:
      return QStringLiteral("data movement");
    case graph::OpFamily::source:
      return QStringLiteral("source");
    case graph::OpFamily::custom:
      return QStringLiteral("custom");
  }
  return QStringLiteral("custom");
}

}  // namespace orrery::ui
