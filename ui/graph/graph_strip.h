// The strip under the drawing: what its colours, shapes, lines and devices mean, and where the view is.
// Covers nothing of the drawing.
#pragma once

#include "ui/graph/device_legend.h"
#include "ui/graph/legend.h"
#include "ui/graph/mark_legend.h"
#include "ui/graph/minimap.h"
#include "ui/graph/shape_list.h"
#include "ui/graph/wire_legend.h"

namespace orrery::ui {

class GraphStrip : public QWidget {
  Q_OBJECT

 public:
  explicit GraphStrip(const Theme& theme, QWidget* parent);
  void setTheme(const Theme& theme);
  Legend* legend() const { return legend_; }
  ShapeList* shapes() const { return shapes_; }
  MarkLegend* marks() const { return marks_; }
  DeviceLegend* devices() const { return devices_; }
  WireLegend* wires() const { return wires_; }
  Minimap* minimap() const { return minimap_; }
  void setMinimapShown(bool shown);
  /// Shapes are there with a page only.
  void setPaged(bool paged);
  /// Gives every part its place. What explains what is seen goes last where there is not room for all.
  void place();

 protected:
  void paintEvent(QPaintEvent*) override;
  void resizeEvent(QResizeEvent*) override;

 private:
  Theme theme_;
  Legend* legend_;
  ShapeList* shapes_;
  MarkLegend* marks_;
  DeviceLegend* devices_;
  WireLegend* wires_;
  Minimap* minimap_;
  bool minimapShown_ = true, paged_ = false;
};

}  // namespace orrery::ui
