// The program's own icons (resources/icons/NAME.svg): drawn in one colour, at the device's pixel ratio.
// Names: open save undo redo play stop pause fit search gear down right close float plus minus export copy
// refresh pencil warn error check x dotc send cpu gpu layers jump bookmark more command fuse weights history
// ab graph lock bypass frame note trash arrange target logo, and the families' glyphs g-attention g-linear
// g-norm g-activation g-elementwise g-embedding g-sampling g-movement g-custom.
#pragma once

#include <QIcon>
#include <QRectF>
#include <QStringView>

#include "ui/theme/theme.h"

class QPainter;

namespace orrery::ui {

/// text2, text when active or selected, disabled when disabled. Empty for an unknown name.
QIcon icon(QStringView name, const Theme& theme);
/// In one colour whatever the state (disabled when disabled).
QIcon icon(QStringView name, const Theme& theme, Token token);
/// Draws into a painter of any scale; sharp. False for an unknown name.
bool paintIcon(QPainter& painter, QStringView name, const QRectF& rect, const QColor& color);
/// "g-linear"; the glyph of a family.
QStringView glyphName(graph::OpFamily family);
/// "linear", "data movement": the family's name for people.
QString familyName(graph::OpFamily family);

}  // namespace orrery::ui
