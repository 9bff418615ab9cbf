// The way of one wire between two places, along the axes and round boxes where it can: for wires that a
// person drags and for boxes that do not stand where the layout would put them. Standard library only.
#pragma once

#include <vector>

#include "ui/graph/layout.h"

namespace orrery::ui {

/// Where a wire begins or ends, and the direction in which it leaves the thing there.
struct WireEnd {
  enum class Way : uint8_t { down, up, left, right, any };
  Point at;
  Way way = Way::any;
};

/// Corners, the first at `from`, the last at `to`. Crosses `boxes` only where no way of a few corners is
/// free.
std::vector<Point> routeWire(const WireEnd& from, const WireEnd& to, const std::vector<Rect>& boxes);

/// Whether a stretch of the line goes through the inside of a box.
bool crosses(Point a, Point b, const Rect& box);

}  // namespace orrery::ui
