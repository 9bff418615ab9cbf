// Draws a LatencySeries with QCustomPlot: each token thin, p50 thick, p95 filled down to it, prefills as
// blocks whose area is time, edits dashed. Wheel zooms about the pointer, dragging moves, a double click
// returns to following.
#pragma once

#include "ui/latency/latency_series.h"
#include "ui/plot/plot.h"
#include "ui/theme/side_look.h"
#include "ui/widgets/themed.h"

namespace orrery::ui {

inline constexpr int kNamePadding = 8;  // px between a curve's end and its name

class LatencyPlot : public Plot, public Themed {
  Q_OBJECT
 public:
  explicit LatencyPlot(const Theme& theme, QWidget* parent = nullptr);

  /// Shows the series as it is now; draws at the next turn of the event loop.
  void show(const LatencySeries& series, bool live);
  /// From here showPair(): two replies on one logarithmic axis, named at their ends. Ends with show().
  void setPair(const SideLooks& sides);
  void showPair(const LatencySeries& a, const LatencySeries& b);
  /// The colour of the one session's curves.
  void setCurveToken(Token token);
  /// What is timed: tokens of replies, or texts of runs.
  void setTexts(bool texts);
  void setPaused(bool paused);
  void setCurveVisible(LatencyCurve curve, bool visible);
  void resetView();
  bool following() const { return following_; }
  void setTheme(const Theme& theme) override;
  /// png or pdf by the suffix, in the light theme. False with a reason.
  bool exportTo(const QString& path, const LatencySeries& series, QString* reason);

 signals:
  void viewChanged(bool following);

 protected:
  bool event(QEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;

 private:
  /// A label of the series: it stands where there is room for it, each time the plot is laid out.
  struct Note {
    QCPItemText* text;
    Token token;
    double from, to;  // along the axis: what it names
    double ms = 0;    // the height of a block
    QString words;    // all of it
  };

  void setupWords();
  void setupAxes();
  void setupGraphs();
  void setLogarithmic(bool logarithmic);
  void fillPair(int side, const LatencySeries& series);
  double namesShare() const;
  void partNames();
  void styleAll();
  void fillGraphs(const LatencySeries& series);
  // latency_plot_words.cpp
  void clearItems();
  void styleItems();
  void fillItems(const LatencySeries& series, bool live);
  void addBlock(const LatencySeries::Block& block);
  void addMark(const LatencySeries::Mark& mark);
  Note makeNote(double from, double to, const QString& words, Token token);
  void placeWords();
  /// The rows of pixels between the highest and the lowest point of the curves from one column to another;
  /// empty where they have none.
  QRectF curvesAcross(double left, double right) const;
  QString noteAt(const QPointF& at) const;
  void fitRanges(const LatencySeries& series);

  Theme theme_;
  QCPGraph *each_, *p50_, *p95_;
  QCPGraph *pairEach_[2], *pairP50_[2];
  QCPItemText* pairWord_[2];
  SideLooks sides_;
  bool paired_ = false;
  Token token_ = Token::cpu;
  bool texts_ = false;
  QCPItemText *xWord_, *yWord_, *liveWord_;
  QCPItemTracer* head_;
  QCPItemStraightLine* liveLine_;
  std::vector<QCPAbstractItem*> items_;  // blocks and marks; made anew with the series, as their notes
  std::vector<Note> replies_, edits_, prefills_;
  size_t itemKey_ = 0;
  bool visible_[kLatencyCurves] = {true, true, true, true};
  bool paused_ = false, following_ = true;
};

}  // namespace orrery::ui
