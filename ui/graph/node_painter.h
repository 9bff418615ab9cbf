// Draws one box of the graph, in one of three degrees of detail. Knows nothing of graphs: a NodeLook says it
// all.
#pragma once

#include <QPainter>
#include <QString>
#include <memory>

#include "ui/graph/device_mark.h"
#include "ui/graph/hierarchy.h"

namespace orrery::ui {

/// By scale: below 0.35 rectangles, to 0.8 one line, above everything.
enum class Detail : uint8_t { far, mid, near };
/// With 3 % of hysteresis, so that a wheel at rest does not flicker.
Detail detailAt(double scale, Detail current);
/// Below 4 pixels of a node's height a layer of a page is one block, with the same hysteresis.
bool layersAreBlocks(double scale, bool now);

struct NodeLook {
  QRectF box;                             // scene coordinates
  QString name, chip, time, left, right;  // chip "4 in 1" or "× 12"; left and right: the second line
  QString device;                         // tag: "CUDA 0", "mixed"; empty: none
  QString precision;                      // tag: "int8", "mixed"; empty: the model's
  DeviceMark mark = DeviceMark::none;     // of the tag
  bool fellBack = false;                  // runs elsewhere than asked
  bool transfer = false;                  // carries a value from the device `source` to `mark`
  DeviceMark source = DeviceMark::none;
  graph::OpFamily family = graph::OpFamily::custom;
  QColor body;     // invalid: no value
  int plates = 0;  // 1 folded group, 2 stack
  bool group = false, fused = false, edited = false, bypassed = false;
  bool selected = false, focused = false, hovered = false, match = false;
  double running = -1;  // 0 to 1: place of the moving bar; below 0: none
};

class NodeSprites;

class NodePainter {
 public:
  explicit NodePainter(const Theme& theme);

  /// The painter maps scene coordinates; `scale` is device pixels (independent ones) to a scene unit.
  void paint(QPainter& painter, NodeLook look, Detail detail, double scale) const;
  TextWidths textWidths() const;

 private:
  struct Fonts {
    QFont name, time, second, chip, stackChip, tag;
    QFont midName, midTime, smallName, smallTime;
  };
  QColor bodyOf(const NodeLook& look) const;
  QColor gutterGround() const;
  QColor lineOf(const NodeLook& look) const;
  void paintFar(QPainter& painter, const NodeLook& look, double scale) const;
  void paintFarPlace(QPainter& painter, const NodeLook& look, double scale) const;
  void paintFarOutline(QPainter& painter, const QRectF& box, double inside, double outside) const;
  using Part = void (NodePainter::*)(QPainter&, const NodeLook&) const;

  // Back: what is alike for many boxes, and kept as pixels. Front: words, and what changes as one looks.
  void paintMidBack(QPainter& painter, const NodeLook& look) const;
  void paintMidFront(QPainter& painter, const NodeLook& look) const;
  void paintNearBack(QPainter& painter, const NodeLook& look) const;
  void paintNearFront(QPainter& painter, const NodeLook& look) const;
  void paintPlates(QPainter& painter, const NodeLook& look, double step) const;
  void paintGutter(QPainter& painter, const NodeLook& look) const;
  void paintWay(QPainter& painter, const NodeLook& look) const;
  void paintTexts(QPainter& painter, const NodeLook& look) const;
  double chipWidth(const QString& chip, bool stack) const;
  void paintChip(QPainter& painter, const NodeLook& look, double x, const QColor& body,
                 const QColor& text) const;
  void paintMidTexts(QPainter& painter, const NodeLook& look) const;
  void paintMarks(QPainter& painter, const NodeLook& look) const;
  void paintFallback(QPainter& painter, const QRectF& box, double radius) const;
  void paintBypassed(QPainter& painter, const NodeLook& look) const;
  void paintBypassedTexts(QPainter& painter, const NodeLook& look) const;
  void paintPort(QPainter& painter, const QPointF& centre) const;
  enum class TagSide : uint8_t { left, right };
  /// On the lower border of the box.
  void paintTag(QPainter& painter, const QRectF& box, TagSide side, const QString& words,
                const QColor& color) const;
  void paintNotch(QPainter& painter, const QRectF& box, double side, double radius, double pen) const;

  Theme theme_;
  Fonts fonts_;
  std::shared_ptr<NodeSprites> sprites_;  // of this theme
};

}  // namespace orrery::ui
