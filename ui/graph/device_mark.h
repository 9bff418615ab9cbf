// The sign of a device: a circle for the CPU, a square for a CUDA device, each in its colour, so that neither
// speaks by colour alone.
#pragma once

#include <QPainter>
#include <QString>

#include "ui/theme/theme.h"

namespace orrery::ui {

enum class DeviceMark : uint8_t { none, cpu, cuda, mixed };

/// Of a device's title ("CPU", "CUDA 0"); none when that is empty.
DeviceMark markOf(const QString& device);
/// The colour of its words and outlines.
QColor markColor(DeviceMark mark, const Theme& theme);
/// `size` high and wide, about `centre`; mixed draws both, half as large again as wide.
void paintDeviceMark(QPainter& painter, DeviceMark mark, QPointF centre, double size, const Theme& theme);

}  // namespace orrery::ui
