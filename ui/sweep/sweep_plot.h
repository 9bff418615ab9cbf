// The distance at each place in the order of the graph, on a logarithmic axis: points in the heat colour. An
// earlier sweep stands behind, hollow and dashed. A click chooses the nearest place.
#pragma once

#include "ui/plot/plot.h"
#include "ui/sweep/sweep_model.h"
#include "ui/widgets/themed.h"

namespace orrery::ui {

class SweepPlot : public Plot, public Themed {
  Q_OBJECT
 public:
  explicit SweepPlot(const Theme& theme, QWidget* parent = nullptr);

  void show(const SweepController& sweeps, const ScopeValues& values);
  /// -1: none.
  void choose(int place);
  int chosen() const { return chosen_; }
  /// Of the points that are drawn, by place; NaN where there is none.
  std::vector<double> points() const { return points_; }
  void setTheme(const Theme& theme) override;

 signals:
  void placeChosen(int place);

 protected:
  void mousePressEvent(QMouseEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  static constexpr int kShades = 33;  // of the heat that points are drawn in

  void setupAxes();
  void styleAll();
  void placeMarks();

  Theme theme_;
  QCPGraph *line_, *other_;
  QCPGraph* shades_[kShades];
  QCPItemStraightLine *live_, *mark_;
  QCPItemTracer* ring_;
  QCPItemText *empty_, *liveWord_;
  std::vector<double> points_;
  int chosen_ = -1;
  double low_ = 1e-3, high_ = 1;
};

}  // namespace orrery::ui
