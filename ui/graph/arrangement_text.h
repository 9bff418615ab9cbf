// What a person put where, as text: {"groups": {"layers.0.mlp": {"layers.0.mlp.mul": [12, 40, 184, 34]}}}.
// What only stayed where it was beside an edit is not told; it follows from the layout.
#pragma once

#include <QString>

#include "ui/graph/arrangement.h"

namespace orrery::ui {

/// Empty where nothing was put anywhere.
QString textOf(const Arrangement& arrangement);
/// What cannot be read is left out.
Arrangement arrangementOf(const QString& text);

}  // namespace orrery::ui
