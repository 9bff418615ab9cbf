// Draws what is visible of a laid-out graph: frames, wires, boxes, pills. One painter for the view, the
// minimap and export.
#pragma once

#include <QPainter>
#include <unordered_set>
#include <vector>

#include "ui/graph/geometry.h"
#include "ui/graph/graph_diff.h"
#include "ui/graph/node_painter.h"
#include "ui/graph/page_painter.h"
#include "ui/graph/place_model.h"
#include "ui/graph/qt_values.h"

namespace orrery::ui {

/// One thing that the person chose.
struct Chosen {
  int node = -1;                   // a position
  int group = -1, lastGroup = -1;  // or a group, or a stack
};

/// What the person chose and points at.
struct Marks : Chosen {
  std::vector<Chosen> also;  // chosen before it
  bool focused = false;
  Hit hover;
  std::vector<char> matches;  // by position; empty: no search

  bool anything() const { return node >= 0 || group >= 0 || !also.empty(); }
  /// All of them; the last one is that of the inspector.
  void choose(std::vector<Chosen> chosen);
  /// Whether a drawn thing that stands for the positions `span` is chosen, or hides what is.
  bool chooses(const SceneGraph& scene, const Hit& hit, Span span) const;
  bool choosesGroup(int wanted) const;
  /// A node of these positions is chosen.
  bool choosesIn(Span span) const;

 private:
  std::vector<int> nodes_, groups_;  // sorted: thousands may be chosen, and each box asks
};

struct PaintJob {
  const Drawing* drawing = nullptr;
  const HeatModel* heat = nullptr;
  const PlaceModel* places = nullptr;
  const Marks* marks = nullptr;
  const std::vector<int>* editedBefore = nullptr;  // by position + 1: edited nodes before it
  const Bindings* bindings = nullptr;
  const PageModel* pages = nullptr;
  Rect visible;
  Detail detail = Detail::near;
  bool blocks = false;  // far away: a layer of a page is one block
  /// By layer of the pages, while they go to other cells: how far they have to go, and how much of it is
  /// ahead.
  const std::vector<Point>* moving = nullptr;
  double ahead = 0;
  bool strict = false;  // only what lies within the sides of `visible`, for paper
  int litShape = -1;    // of the pages: layers of the others step back; -1: none is lit
  double scale = 1;
  bool wiresByType = false;                  // coloured by what they carry
  const ChangeWords* changeWords = nullptr;  // of nodes that are otherwise than they were opened
  const WireChanges* wireChanges = nullptr;  // since the graph was opened; null: not told
  double running = -1;  // place of the moving bar on nodes that take over 100 ms; below 0: none

  bool isEdited(Span span) const;
  bool shows(const Rect& area) const {
    return !strict || (area.x >= visible.x && area.right() <= visible.right());
  }
};

class ScenePainter {
 public:
  explicit ScenePainter(const Theme& theme);

  void paint(QPainter& painter, const PaintJob& job) const;
  /// What is in an open group, its frame's top middle at `origin`.
  void paintInside(QPainter& painter, const PaintJob& job, int group, const GroupLayout& layout,
                   Point origin) const {
    paintGroup(painter, job, group, layout, origin);
  }
  /// Of the fonts that boxes are written in.
  TextWidths textWidths() const { return nodes_.textWidths(); }
  /// What a box looks like in this job.
  QColor heatColor(const PaintJob& job, double t) const;
  /// Of nodes and groups; short where words keep their size while boxes do not.
  static QString valueText(const PaintJob& job, Span span);
  NodeLook lookOf(const PaintJob& job, const Hit& hit, const Placed& placed) const;

 private:
  void paintGroup(QPainter& painter, const PaintJob& job, int group, const GroupLayout& layout,
                  Point origin) const;
  void paintFrames(QPainter& painter, const PaintJob& job, int group, const GroupLayout& layout,
                   Point origin) const;
  void paintItems(QPainter& painter, const PaintJob& job, int group, const GroupLayout& layout,
                  Point origin) const;
  void paintFarWords(QPainter& painter, const PaintJob& job, const Hit& hit, const Placed& placed,
                     const NodeLook& look) const;
  void paintLayer(QPainter& painter, const PaintJob& job, int holder, const Placed& placed,
                  Point origin) const;
  void paintTiny(QPainter& painter, const PaintJob& job, int group, const GroupLayout& layout,
                 Point origin) const;
  void paintFrame(QPainter& painter, const PaintJob& job, const Hit& hit) const;
  void paintHeader(QPainter& painter, const PaintJob& job, const Hit& hit) const;
  void paintWires(QPainter& painter, const PaintJob& job, int group, const GroupLayout& layout,
                  Point origin) const;
  WireLook wireLook(const PaintJob& job, const SceneGroup& holder, const PlacedWire& wire, bool lit,
                    WireChange change) const;
  void paintFarWires(QPainter& painter, const PaintJob& job, int group, const GroupLayout& layout,
                     Point origin) const;
  void paintCrossings(QPainter& painter, const PaintJob& job, int group, const GroupLayout& layout,
                      Point origin) const;
  void paintCrossing(QPainter& painter, const PaintJob& job, const Crossing& crossing, QPointF centre) const;
  void paintPills(QPainter& painter, const PaintJob& job, const Hit& hit, const Placed& placed) const;
  void paintPill(QPainter& painter, const QRectF& rect, const QString& text) const;
  static QString bypassText(const SceneGroup& holder);
  void describeNode(const PaintJob& job, int position, NodeLook& look) const;
  void describeGroup(const PaintJob& job, const Hit& hit, Span span, NodeLook& look) const;
  void describePlace(const PaintJob& job, const Hit& hit, Span span, NodeLook& look) const;

  Theme theme_;
  NodePainter nodes_;
  PagePainter pages_;
  std::shared_ptr<FrameSprites> frames_ = std::make_shared<FrameSprites>();
  QFont headFont_, docFont_, timeFont_, pillFont_, tinyFont_;
  QFont midHeadFont_, smallHeadFont_, smallTimeFont_;
};

/// What a wire carries from one device to another; no values when it stays on one.
Crossing crossingOf(const PlaceModel& places, int group, const GroupLayout& layout, const PlacedWire& wire);
/// Does the wire carry what the selected node makes or takes?
bool carriesSelected(const PaintJob& job, int group, const GroupLayout& layout, const PlacedWire& wire);
/// Drawn width of a wire with this many bytes.
double wireWidth(double bytes);

}  // namespace orrery::ui
