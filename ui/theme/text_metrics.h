// Short texts that are painted again and again: shaping a label costs more than drawing its glyphs, so widths
// and glyphs are remembered. GUI thread only.
#pragma once

#include <QFont>
#include <QPainter>
#include <QString>

namespace orrery::ui {

/// In the font's pixels.
double textWidth(const QString& text, const QFont& font);
/// "gate…silu": shortened in the middle to the width.
QString elided(const QString& text, const QFont& font, double width);
/// One line from the left end of its baseline, in the painter's pen.
void drawLabel(QPainter& painter, const QPointF& baseline, const QString& text, const QFont& font);
/// In the middle of `rect` by height, and by width or at its left.
void drawLabel(QPainter& painter, const QRectF& rect, Qt::Alignment horizontal, const QString& text,
               const QFont& font);

}  // namespace orrery::ui
