// Layered layout of one flat set of boxes, top to bottom: ranks by longest path, rows ordered by medians,
// places by isotonic regression, orthogonal wires. A fixed number of near-linear passes: no search, so 10,000
// boxes take well under a second. Standard library only.
//
// Coordinates: pixels, y down, the origin at the frame's top in the middle (x = 0 is the spine: where wires
// enter and leave).
#pragma once

#include <cstdint>
#include <stop_token>
#include <vector>

namespace orrery::ui {

struct Point {
  double x = 0, y = 0;
};
struct Rect {
  double x = 0, y = 0, w = 0, h = 0;
  double right() const { return x + w; }
  double bottom() const { return y + h; }
  bool contains(Point p) const { return p.x >= x && p.x < right() && p.y >= y && p.y < bottom(); }
  bool intersects(const Rect& o) const {
    return x < o.right() && o.x < right() && y < o.bottom() && o.y < bottom();
  }
  Rect moved(double dx, double dy) const { return {x + dx, y + dy, w, h}; }
  Rect grown(double by) const { return {x - by, y - by, w + 2 * by, h + 2 * by}; }
};

/// Ends of edges that are not items.
inline constexpr int kLayoutEntry = -1, kLayoutExit = -2;

struct LayoutItem {
  double width = 160, height = 34;
  double alone = 0;            // wider to this when it is the only one of its row; 0: never
  double left = 0, right = 0;  // room beside it for pills when it is the only one of its row
  bool block = false;          // a group: long wires keep to the lanes instead of passing beside it
  bool open = false;           // an open group: wires only enter at its top and leave at its foot
  double spine = 0;            // where they do, from its middle
};
struct LayoutEdge {
  int from = kLayoutEntry, to = kLayoutExit;
  bool drawn = true;    // false: only keeps `to` below `from`
  bool stream = false;  // carries the residual stream
};
struct LayoutMetrics {
  double top = 30;  // header and gap above the first row
  double bottom = 8, side = 12, rowGap = 16, columnGap = 11, track = 8, lane = 8, pillGap = 25;
};

/// What a line stands for. The stream is one line through the layers of a page; a tap leads from it to a
/// box, a ring from a box back to it.
enum class WireKind : uint8_t { plain, stream, tap, ring };

struct Wire {
  int edge = 0;  // index into the edges; -1: passes what is bypassed
  WireKind kind = WireKind::plain;
  std::vector<Point> points;  // corners; the first at the source, the last at the target
  bool atSide = false;        // arrives at the target's right side
  bool lane = false;          // passes rows in a lane at the right
};

struct LayoutResult {
  std::vector<Rect> boxes;                // by item
  std::vector<int> rank;                  // by item
  std::vector<bool> alone;                // by item: the only one of its row, bends aside
  std::vector<bool> leftFree, rightFree;  // by item: alone, and no bend passes at that side
  std::vector<Wire> wires;                // by drawn edge
  double halfWidth = 0, height = 0;       // the frame spans x in [-halfWidth, halfWidth]
  bool stopped = false;
};

LayoutResult layoutLayers(const std::vector<LayoutItem>& items, const std::vector<LayoutEdge>& edges,
                          const LayoutMetrics& metrics, std::stop_token stop = {});

}  // namespace orrery::ui
