// Pictures that are painted again and again, kept as pixels: a copy costs a tenth of rounded corners, dashes
// and glyphs.
#pragma once

#include <QPainter>

namespace orrery::ui {

/// The painter draws pixels, upright and at one scale: not a file of strokes, which must stay one.
bool drawsPixels(const QPainter& painter);

}  // namespace orrery::ui
