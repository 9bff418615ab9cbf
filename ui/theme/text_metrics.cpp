#include "ui/theme/text_metrics.h"

#include <QCache>
#include <QFontMetricsF>
#include <QGlyphRun>
#include <QTextLayout>

#include "ui/theme/sprites.h"

namespace orrery::ui {
namespace {

constexpr int kRemembered = 4096;  // texts; a screen shows a few hundred

struct Key {
  QString text;
  QFont font;
  double width;
  bool operator==(const Key& other) const = default;
};

size_t qHash(const Key& key, size_t seed) {
  return qHashMulti(seed, key.text, key.width, key.font.pixelSize(), key.font.weight());
}

/// A shaped line.
struct Line {
  QList<QGlyphRun> runs;
  double ascent = 0, descent = 0;
};

Line shaped(const QString& text, const QFont& font) {
  QTextLayout layout(text, font);
  layout.setCacheEnabled(true);
  layout.beginLayout();
  const QTextLine line = layout.createLine();
  layout.endLayout();
  return {layout.glyphRuns(), line.ascent(), line.descent()};
}

const Line& lineOf(const QString& text, const QFont& font) {
  static QCache<Key, Line> known(kRemembered);
  const Key key{text, font, 0};
  if (const Line* line = known.object(key)) return *line;
  auto* line = new Line(shaped(text, font));
  known.insert(key, line);
  return *line;
}

}  // namespace

double textWidth(const QString& text, const QFont& font) {
  static QCache<Key, double> known(kRemembered);
  const Key key{text, font, 0};
  if (const double* width = known.object(key)) return *width;
  const double width = QFontMetricsF(font).horizontalAdvance(text);
  known.insert(key, new double(width));
  return width;
}

QString elided(const QString& text, const QFont& font, double width) {
  if (textWidth(text, font) <= width) return text;
  static QCache<Key, QString> known(kRemembered);
  const Key key{text, font, width};
  if (const QString* shortened = known.object(key)) return *shortened;
  const QString shortened = QFontMetricsF(font).elidedText(text, Qt::ElideMiddle, width);
  known.insert(key, new QString(shortened));
  return shortened;
}

void drawLabel(QPainter& painter, const QPointF& baseline, const QString& text, const QFont& font) {
  if (text.isEmpty()) return;
  if (!drawsPixels(painter)) {  // a file keeps its words
    painter.setFont(font);
    return painter.drawText(baseline, text);
  }
  const Line& line = lineOf(text, font);
  for (const QGlyphRun& run : line.runs) painter.drawGlyphRun(baseline - QPointF(0, line.ascent), run);
}

void drawLabel(QPainter& painter, const QRectF& rect, Qt::Alignment horizontal, const QString& text,
               const QFont& font) {
  if (text.isEmpty()) return;
  const Line& line = lineOf(text, font);
  const double x =
      horizontal & Qt::AlignHCenter ? rect.center().x() - textWidth(text, font) / 2 : rect.left();
  drawLabel(painter, QPointF(x, rect.center().y() + (line.ascent - line.descent) / 2), text, font);
}

}  // namespace orrery::ui
