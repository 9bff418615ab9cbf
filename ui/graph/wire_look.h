// What a wire looks like beside its width: the colour and the stroke of what it carries, where that is asked
// for, and of what an edit made of it.
#pragma once

#include <QColor>

#include "engine/graph/graph.h"
#include "ui/theme/theme.h"

namespace orrery::ui {

/// What tells wires apart by colour, and for eyes that do not see it by stroke.
enum class Carried : uint8_t { f32, f16, integer, quantised };
Carried carriedType(DType dtype);

/// How a line is drawn: a double line has a gap in its middle.
enum class Stroke : uint8_t { solid, dotted, doubled, dashDot, dashed };
Stroke strokeOf(Carried kind);
QColor colorOf(Carried kind, const Theme& theme);
/// "f32", "f16, bf16", "integers", "quantised".
QString wordOf(Carried kind);

struct WireLook {
  QColor color;
  double width = 1.2;
  Stroke stroke = Stroke::solid;
};

/// What edits made of a wire since the graph was opened.
enum class WireChange : uint8_t { none, added, removed, changed };
QColor colorOf(WireChange change, const Theme& theme);

}  // namespace orrery::ui
