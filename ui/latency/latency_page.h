// The time of every token, or of every text that is classified, live, and its figures: those of the model's
// profile.
#pragma once

#include <QElapsedTimer>
#include <QWidget>
#include <unordered_map>

#include "ui/latency/latency_legend.h"
#include "ui/latency/latency_series.h"
#include "ui/latency/vitals_strip.h"
#include "ui/session/session_controller.h"
#include "ui/theme/side_look.h"
#include "ui/widgets/buttons.h"
#include "ui/widgets/text.h"

namespace orrery::ui {

class LatencyPlot;

class LatencyPage : public QWidget, public Themed {
  Q_OBJECT
 public:
  /// Keeps a series of each; the first is shown.
  LatencyPage(const Theme& theme, const std::vector<SessionController*>& sources, QWidget* parent = nullptr);

  /// Whose times are shown.
  void setSource(SessionController* source);

  QWidget* legend() const { return legend_; }
  QWidget* corner() const { return corner_; }
  const LatencySeries& series() const { return series_.at(source_); }
  QWidget* plot() const;
  /// Two replies that are compared take the plot until the next reply of the session: A and B, by their
  /// decode tokens.
  void beginPair(const SideLooks& sides);
  void addToPair(bool b, const api::PrefillEvent& event);
  void addToPair(bool b, const TokenBatch& tokens);
  bool pairShown() const { return paired_; }
  const SideLooks& sides() const { return sides_; }
  const LatencySeries& pairSeries(bool b) const { return pair_[b]; }
  void setDevices(const std::vector<DeviceLine>& devices) { vitals_->setDevices(devices); }
  const VitalsStrip* vitals() const { return vitals_; }
  /// png, pdf or csv by the suffix. False with a reason.
  bool exportTo(const QString& path, QString* reason);
  void setTheme(const Theme& theme) override;

 signals:
  void exportFailed(const QString& path, const QString& reason);
  void exported(const QString& path);

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  struct FigureTexts {
    Text *caption, *value, *unit;
  };
  void setupCorner();
  void setupFigures();
  void setupLayout();
  void setupSource(SessionController* source);
  FigureTexts addFigure(const QString& caption, Token token);
  void askExport();
  void refresh();
  bool texts() const;
  void showSource();
  void refreshLive();
  void showFigures();
  void showPairFigures();

  Theme theme_;
  SessionController* source_;
  std::unordered_map<const SessionController*, LatencySeries> series_;
  LatencySeries pair_[2];
  SideLooks sides_;
  bool paired_ = false;
  LatencyPlot* plot_;
  VitalsStrip* vitals_;
  LatencyLegend* legend_;
  QWidget *corner_, *figures_;
  IconButton *pause_ = nullptr, *reset_ = nullptr;
  FigureTexts p50_{}, p95_{}, speed_{};
  Text *beforeCaption_ = nullptr, *before_ = nullptr, *empty_;
  double p50Shown_ = 0;  // ms
  QElapsedTimer sinceRefresh_;
};

}  // namespace orrery::ui
