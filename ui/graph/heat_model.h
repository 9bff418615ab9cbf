// Numbers behind the colours: figures by node, sums over groups, the scale from cold to hot. Nodes are
// addressed by their position in the scene; a group or a stack is a run of positions, so every sum is a
// difference of two prefix sums. Keeps no figure of its own: two models of the same figures tell the same.
#pragma once

#include <memory>
#include <vector>

#include "ui/graph/figures.h"
#include "ui/graph/scene_graph.h"
#include "ui/theme/side_look.h"

namespace orrery::ui {

/// Positions [begin, end).
struct Span {
  int begin = 0, end = 0;
};

class HeatModel {
 public:
  void setScene(std::shared_ptr<const SceneGraph> scene);
  void setFigures(Figures figures);
  /// A new run: the scale may shrink.
  void resetScale();
  void setMode(HeatMode mode);
  /// The sides whose ratio the ratio's mode shows.
  void setSides(const SideLooks& sides);
  /// The sides from the scale's cold end to its hot one: a CUDA device has the end of its colour.
  SideLooks ends() const;
  HeatMode mode() const { return mode_; }
  void setLogarithmic(bool logarithmic);
  bool isLogarithmic() const { return logarithmic_; }

  /// In the mode's unit: µs, bytes, share of the step. NaN when nothing of the span is known.
  double value(Span span) const;
  /// Place on the scale, 0 to 1; of `count` equal parts their mean. NaN when not known or the mode is off. In
  /// the ratio's mode 0.5 is equal, 1 that the side of the hot end is 16 times as fast.
  double heat(Span span, int count = 1) const;
  /// NaN when not measured. otherUs: of B.
  double us(Span span) const;
  double otherUs(Span span) const;
  bool estimated(Span span) const;  // some of it is shared out among the ops of fused nodes
  double share(Span span) const;
  /// Empty when not known; the time when the mode is off. `brief`: a time in two digits.
  QString text(Span span, bool brief = false) const;
  /// "≈ 15.4 µs", brief "≈ 15 µs"; a dash when not measured.
  QString timeText(Span span, bool brief = false) const;
  QString eachText(Span span, int count) const;
  QString bandwidthText(int position) const;  // empty when not known
  QString kernel(int position) const;
  bool measured() const { return measured_; }
  /// Some node runs longer than 100 ms: long enough for a person to wait for it.
  bool slow() const { return slow_; }

  double low() const { return low_; }
  double high() const { return high_; }
  /// The scale's name and its ticks, evenly apart: three, of a ratio five.
  QString title() const;
  std::vector<QString> ticks() const;

 private:
  /// The largest of the span, as groups do not add up; null: nothing of it was measured.
  const NodeMeasure* measure(Span span) const;
  bool turned() const { return sides_[0].device && !sides_[1].device; }
  void addUp();
  void addMeasured();
  void addSides();
  bool known(Span span) const;
  void widen();
  void widenScale();
  void placeNodes();
  double placeOf(Span span, int count) const;

  std::shared_ptr<const SceneGraph> scene_;
  Figures figures_;
  // Prefix sums: an entry for each position, and one after the last.
  size_t runs_ = 0;
  std::vector<int64_t> times_;  // (positions + 1, runs) nanoseconds
  std::vector<double> a_, b_;   // µs of two sides
  std::vector<double> bytes_;
  std::vector<int> known_, estimated_;
  std::vector<double> us_, places_;  // of single nodes, by position: a frame asks for thousands
  double low_ = 0, high_ = 0;
  HeatMode mode_ = HeatMode::time;
  SideLooks sides_ = sideLooks({"A", "B"}, {false, true});
  bool logarithmic_ = true, measured_ = false, slow_ = false;
};

}  // namespace orrery::ui
