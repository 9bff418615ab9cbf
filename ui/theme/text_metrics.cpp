#include "ui/theme/text_metrics.h"

#include <QCache>
#include <QFontMetricsF>
#include <QGlyphRun>
#include <QTextLayout>

#include "ui/theme/sprites.h"

namespace orrery::ui {
namespace {

constexpr int kRemembered = 4096;   // texts; a screen shows a few hundred
constexpr qsizetype kReadable = 5;  // letters: of fewer a name is not known again
constexpr QChar kCut(0x2026);

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

/// Where the number that a name ends with begins, a range ("0–11") being one; the name's end: there is none.
qsizetype numberAt(const QString& text) {
  qsizetype at = text.size();
  while (at > 0 && (text[at - 1].isDigit() || (at < text.size() && text[at - 1] == QChar(0x2013)))) --at;
  return at;
}

/// As much of the beginning as fits before `end`; empty where that would be less than `least` letters.
QString cutBefore(const QString& text, qsizetype end, const QFont& font, double width, qsizetype least) {
  const QString tail = kCut + text.mid(end);
  const QFontMetricsF metrics(font);
  qsizetype low = 0, high = end;  // letters that fit
  while (low < high) {
    const qsizetype middle = (low + high + 1) / 2;
    if (metrics.horizontalAdvance(text.left(middle) + tail) <= width)
      low = middle;
    else
      high = middle - 1;
  }
  return low >= least ? text.left(low) + tail : QString();
}

QString shortened(const QString& text, const QFont& font, double width) {
  const qsizetype number = numberAt(text);
  if (number > 0 && number < text.size()) {
    if (const QString cut = cutBefore(text, number, font, width, 3); !cut.isEmpty()) return cut;
    if (const QString tail = kCut + text.mid(number); textWidth(tail, font) <= width) return tail;
  }
  if (const QString both = QFontMetricsF(font).elidedText(text, Qt::ElideMiddle, width);
      both.size() > 2 * kReadable)
    return both;
  return QFontMetricsF(font).elidedText(text, Qt::ElideRight, width);
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

double paragraphHeight(const QString& text, const QFont& font, int width) {
  constexpr double kEndless = 1e5;
  static QCache<Key, double> known(kRemembered);
  const Key key{text, font, static_cast<double>(width)};
  if (const double* height = known.object(key)) return *height;
  const double height =
      QFontMetricsF(font).boundingRect(QRectF(0, 0, width, kEndless), Qt::TextWordWrap, text).height();
  known.insert(key, new double(height));
  return height;
}

QString elided(const QString& text, const QFont& font, double width) {
  if (textWidth(text, font) <= width) return text;
  static QCache<Key, QString> known(kRemembered);
  const Key key{text, font, width};
  if (const QString* shortened = known.object(key)) return *shortened;
  const QString cut = shortened(text, font, width);
  known.insert(key, new QString(cut));
  return cut;
}

QString fitted(const QString& whole, const QString& shorter, const QFont& font, double width) {
  return textWidth(whole, font) <= width ? whole : elided(shorter, font, width);
}

double leastWidth(const QString& text, const QFont& font) {
  if (text.size() <= kReadable + 1) return textWidth(text, font);
  const qsizetype number = numberAt(text);
  return textWidth(number < text.size() && number > 0 ? kCut + text.mid(number) : text.left(kReadable) + kCut,
                   font);
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
