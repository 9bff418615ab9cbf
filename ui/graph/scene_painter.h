// Draws what is visible of a laid-out graph: frames, wires, boxes, pills. One painter for the view, the
// minimap and export.
#pragma once

#include <QPainter>
#include <QPainterPath>
#include <unordered_set>
#include <vector>

#include "ui/graph/geometry.h"
#include "ui/graph/node_painter.h"

namespace orrery::ui {

/// What the person chose and points at.
struct Marks {
  int node = -1;                   // selected: a position
  int group = -1, lastGroup = -1;  // or a group, or a stack
  bool focused = false;
  Hit hover;
  std::vector<char> matches;  // by position; empty: no search
};

struct PaintJob {
  const Drawing* drawing = nullptr;
  const HeatModel* heat = nullptr;
  const Marks* marks = nullptr;
  const std::vector<int>* editedBefore = nullptr;  // by position + 1: edited nodes before it
  const Bindings* bindings = nullptr;
  Rect visible;
  Detail detail = Detail::near;
  double scale = 1;
  double running = -1;  // place of the moving bar on nodes that take over 100 ms; below 0: none
};

class ScenePainter {
 public:
  explicit ScenePainter(const Theme& theme);

  void paint(QPainter& painter, const PaintJob& job) const;
  /// What a box looks like in this job.
  QColor heatColor(const PaintJob& job, double t) const;
  NodeLook lookOf(const PaintJob& job, const Hit& hit, const Placed& placed) const;

 private:
  void paintGroup(QPainter& painter, const PaintJob& job, int group, const GroupLayout& layout,
                  Point origin) const;
  void paintFrame(QPainter& painter, const PaintJob& job, const Hit& hit) const;
  void paintHeader(QPainter& painter, const PaintJob& job, const Hit& hit) const;
  void paintWires(QPainter& painter, const PaintJob& job, int group, const GroupLayout& layout,
                  Point origin) const;
  void paintPills(QPainter& painter, const PaintJob& job, const Hit& hit, const Placed& placed) const;
  void paintPill(QPainter& painter, const QRectF& rect, const QString& text) const;
  void describeNode(const PaintJob& job, int position, NodeLook& look) const;
  void describeGroup(const PaintJob& job, const Hit& hit, Span span, NodeLook& look) const;

  Theme theme_;
  NodePainter nodes_;
  QFont headFont_, docFont_, timeFont_, pillFont_, midHeadFont_;
};

/// Does the wire carry what the selected node makes or takes?
bool carriesSelected(const PaintJob& job, int group, const GroupLayout& layout, const PlacedWire& wire);
/// Drawn width of a wire with this many bytes.
double wireWidth(double bytes);
/// A polyline with 8 px corners.
QPainterPath roundedPath(const std::vector<Point>& points, double radius);

}  // namespace orrery::ui
