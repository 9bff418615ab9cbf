// What a token takes over the length of the text before it, or what the context does: both axes logarithmic,
// the runs at a depth as a line about their median. A click chooses the nearest depth.
#pragma once

#include "ui/plot/plot.h"
#include "ui/session/depth_controller.h"
#include "ui/theme/side_look.h"
#include "ui/widgets/themed.h"

namespace orrery::ui {

class DepthPlot : public Plot, public Themed {
  Q_OBJECT
 public:
  enum class What { time, memory };
  DepthPlot(const Theme& theme, What what, QWidget* parent = nullptr);

  /// `looks`: of the curves.
  void show(const std::vector<int64_t>& depths, const std::vector<DepthCurve>& curves,
            const std::vector<SideLook>& looks);
  /// A depth, by its place among all; -1: none.
  void choose(int depth);
  int chosen() const { return chosen_; }
  /// Of a curve, in the unit of the axis: milliseconds, or bytes.
  std::vector<double> points(size_t curve) const;
  /// The nearest depth that was measured; -1: none.
  int depthAt(const QPointF& position) const;
  void setEmptyWords(const QString& words);
  void setTheme(const Theme& theme) override;

 signals:
  void depthChosen(int depth);

 protected:
  void mousePressEvent(QMouseEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  struct Line {
    QCPGraph* graph = nullptr;
    QCPErrorBars* spread = nullptr;
  };
  double valueOf(const api::BenchResult::Depth& at) const;
  void setupAxes();
  void styleAll();
  void placeTicks();
  void placeMark();

  Theme theme_;
  What what_;
  Line lines_[2];
  QCPItemStraightLine* mark_;
  QCPItemText *empty_, *yWord_;
  std::vector<int64_t> depths_;
  std::vector<DepthCurve> curves_;
  std::vector<SideLook> looks_;
  int chosen_ = -1;
};

}  // namespace orrery::ui
