#include "ui/theme/text_metrics.h"

#include <QCache>
#include <QFontMetricsF>

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

}  // namespace orrery::ui
