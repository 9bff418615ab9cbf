#include "tests/ui/graph/written.h"

#include <QFontMetricsF>
#include <QPaintDevice>
#include <QPaintEngine>
#include <cmath>

namespace orrery::ui::testing {
namespace {

/// Keeps the words and drops the rest.
class Engine : public QPaintEngine {
 public:
  Engine() : QPaintEngine(AllFeatures) {}

  bool begin(QPaintDevice*) override { return true; }
  bool end() override { return true; }
  void updateState(const QPaintEngineState&) override {}
  void drawPixmap(const QRectF&, const QPixmap&, const QRectF&) override {}
  void drawPath(const QPainterPath&) override {}
  void drawPolygon(const QPointF*, int, PolygonDrawMode) override {}
  Type type() const override { return User; }

  /// A line comes in pieces where its letters are of several fonts.
  void drawTextItem(const QPointF& baseline, const QTextItem& item) override {
    const QTransform toPixels = painter()->combinedTransform();
    const QRectF ink =
        toPixels.mapRect(QFontMetricsF(item.font()).tightBoundingRect(item.text()).translated(baseline));
    const QPointF begin = toPixels.map(baseline) - end_;
    end_ = toPixels.map(baseline + QPointF(item.width(), 0));
    if (written.empty() || std::hypot(begin.x(), begin.y()) > 0.5)
      return written.push_back({item.text(), ink});
    written.back().text += item.text();
    written.back().area |= ink;
  }

  std::vector<Written> written;

 private:
  QPointF end_{-1e9, -1e9};
};

class Paper : public QPaintDevice {
 public:
  explicit Paper(const QSize& size) : size_(size) {}
  QPaintEngine* paintEngine() const override { return &engine; }
  mutable Engine engine;

 protected:
  int metric(PaintDeviceMetric which) const override {
    switch (which) {
      case PdmWidth:
        return size_.width();
      case PdmHeight:
        return size_.height();
      case PdmDpiX:
      case PdmDpiY:
      case PdmPhysicalDpiX:
      case PdmPhysicalDpiY:
        return 96;
      case PdmDepth:
        return 32;
      case PdmDevicePixelRatio:
        return 1;
      case PdmDevicePixelRatioScaled:
        return static_cast<int>(devicePixelRatioFScale());
      default:
        return 0;
    }
  }

 private:
  QSize size_;
};

}  // namespace

std::vector<Written> writtenOn(const QSize& size, const std::function<void(QPaintDevice&)>& paint) {
  Paper paper(size);
  paint(paper);
  return paper.engine.written;
}

std::vector<Written> writtenBy(const QSize& size, const std::function<void(QPainter&)>& paint) {
  return writtenOn(size, [&](QPaintDevice& paper) {
    QPainter painter(&paper);
    paint(painter);
  });
}

QStringList overlaps(const std::vector<Written>& written) {
  QStringList found;
  for (size_t a = 0; a < written.size(); ++a)
    for (size_t b = a + 1; b < written.size(); ++b)
      if (written[a].area.adjusted(0.25, 0.25, -0.25, -0.25).intersects(written[b].area))
        found << written[a].text + QStringLiteral(" over ") + written[b].text;
  return found;
}

bool isCut(const QString& text) { return text.contains(QChar(0x2026)) || text.contains("..."); }

}  // namespace orrery::ui::testing
