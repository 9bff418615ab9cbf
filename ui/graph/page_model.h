// What the pages of a drawing say of their layers: which are alike, how the others differ, how long each
// takes. Worked out when the drawing or its figures change, so that a frame only looks it up.
#pragma once

#include <QColor>
#include <QString>
#include <unordered_set>
#include <vector>

#include "ui/graph/geometry.h"

namespace orrery::ui {

/// Of each edit the nodes that it touched.
using EditedNodes = std::vector<std::unordered_set<NodeId>>;

/// A layer's cell.
struct PageLayer {
  int group = -1;           // of the scene; -1: the cell is kept free
  int page = 0;             // of those of the model
  int column = 0, row = 0;  // from 0
  int shape = -1;           // what it looks like; -1 for a free cell
  Rect area, box;           // the cell; what is drawn in it
  bool open = false, edited = false, live = true;
  double heat = 0, us = 0;    // NaN: not known
  QString name, time, brief;  // "layers.3", "114 µs"; brief: in two digits
  QString word;               // how it differs: "Q8_0", "1 edit"; empty: as most
};

/// Layers that look alike.
struct PageShape {
  std::vector<int> layers;  // of the model
  bool usual = false;       // the commonest of its page
  bool edited = false;
  QString type;                    // of its largest weight: "Q4_1"
  QString word, where;             // how it differs
  std::vector<QString> nodeWords;  // by place in the layer: what is different there
  std::vector<double> medians;  // by place in the layer: heat of the middle one of its layers, NaN: not known
};

struct PageColumnHead {
  Point label;  // in the scene
  double width = 0;
  QString name, time;       // "layers 5–9"
  int first = 0, last = 0;  // layers of the model
};

/// Where a page is: its place in the drawing.
struct PagePlace {
  int holder = 0;  // the group whose layout has it
  const GroupLayout* layout = nullptr;
  const PageLayout* page = nullptr;
  Point origin;
  int first = 0, count = 0;  // layers of the model
  int firstColumn = 0;
  QString longestName, longestTime, longestBrief;  // of its layers
};

class PageModel {
 public:
  void setDrawing(const Drawing& drawing, const EditedNodes& edits);
  void setFigures(const HeatModel& heat);
  bool empty() const { return pages_.empty(); }

  const std::vector<PagePlace>& pages() const { return pages_; }
  const std::vector<PageLayer>& layers() const { return layers_; }
  const std::vector<PageShape>& shapes() const { return shapes_; }
  const std::vector<PageColumnHead>& columns() const { return columns_; }
  /// The layer of the model that a group is; -1: none of a page.
  int layerOf(int group) const;
  /// The layer that a group is or lies in.
  int layerAround(int group) const;
  /// The layer whose group holds a node.
  int layerOfNode(int position) const;
  /// The layer whose cell holds the point; -1: none.
  int layerAt(Point point) const;
  /// The place in stream order `step` layers away, in the same row `columns` away; free cells are passed.
  int neighbour(int layer, int step, int columns) const;
  /// "layer 21, column 5, row 2".
  QString spokenName(int layer) const;
  /// What is in an open layer; null: it is folded, or free.
  std::shared_ptr<const GroupLayout> innerOf(const PageLayer& layer) const;
  const PageShape* shapeOf(const PageLayer& layer) const {
    return layer.shape < 0 ? nullptr : &shapes_[static_cast<size_t>(layer.shape)];
  }

 private:
  void collect(int holder, const GroupLayout& layout, Point origin);
  void addPage(int holder, const GroupLayout& layout, const PageLayout& page, Point origin);
  void findShapes(const HeatModel& heat);
  void nameColumns(const HeatModel& heat);
  void findLongest(PagePlace& page);
  void describeShape(PageShape& shape, int usual, const HeatModel& heat);
  QString editWord(const PageLayer& layer) const;

  Drawing drawing_;
  EditedNodes edits_;
  std::vector<PagePlace> pages_;
  std::vector<PageLayer> layers_;
  std::vector<PageShape> shapes_;
  std::vector<PageColumnHead> columns_;
  std::vector<int> layerOf_;  // by group
};

}  // namespace orrery::ui
