// Short texts that are measured at each layout and painted again and again: shaping a label costs more than
// drawing its glyphs, so sizes and glyphs are remembered. GUI thread only.
#pragma once

#include <QFont>
#include <QPainter>
#include <QString>

namespace orrery::ui {

/// In the font's pixels.
double textWidth(const QString& text, const QFont& font);
/// Of a paragraph whose lines break between words.
double paragraphHeight(const QString& text, const QFont& font, int width);
/// A name shortened to the width so that what tells it from its neighbours stays: the number that it ends
/// with
/// ("lay…14", "…14"), else its beginning ("gate_u…"), and of a long one both ends.
QString elided(const QString& text, const QFont& font, double width);
/// The whole name where it fits, else the short one, shortened further where it must.
QString fitted(const QString& whole, const QString& shorter, const QFont& font, double width);
/// What elided() needs for something that still reads.
double leastWidth(const QString& text, const QFont& font);
/// One line from the left end of its baseline, in the painter's pen.
void drawLabel(QPainter& painter, const QPointF& baseline, const QString& text, const QFont& font);
/// In the middle of `rect` by height, and by width or at its left.
void drawLabel(QPainter& painter, const QRectF& rect, Qt::Alignment horizontal, const QString& text,
               const QFont& font);

}  // namespace orrery::ui
