// Widths of short texts that are painted again and again: shaping a label costs more than drawing its glyphs.
#pragma once

#include <QFont>
#include <QString>

namespace orrery::ui {

/// In the font's pixels; remembered. GUI thread only.
double textWidth(const QString& text, const QFont& font);
/// "gate…silu": shortened in the middle to the width; remembered.
QString elided(const QString& text, const QFont& font, double width);

}  // namespace orrery::ui
