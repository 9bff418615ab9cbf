// What a person reads on a widget or in an exported drawing: its texts where they stand. Widgets are painted
// into a drawing of texts instead of pixels.
#pragma once

#include <QFont>
#include <QPointF>
#include <QString>
#include <QWidget>
#include <vector>

namespace orrery::ui::testing {

struct ReadText {
  QString text;
  QPointF at;  // left end of its base line
  double size = 0;
  int weight = 0;
  bool mono = false;
};
/// From top to bottom, each line from left to right.
using ReadTexts = std::vector<ReadText>;

ReadTexts readTexts(QWidget& widget);
ReadTexts readSvg(const QString& path);
/// The texts on the base line of the first text that is `start`, from there on.
QStringList lineOf(const ReadTexts& texts, const QString& start);

}  // namespace orrery::ui::testing
