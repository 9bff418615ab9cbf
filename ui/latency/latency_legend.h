// The curves' names in the dock's title; a click hides or shows one.
#pragma once

#include <QWidget>

#include "ui/latency/latency_plot.h"

namespace orrery::ui {

class LegendEntry : public QAbstractButton, public Themed {
  Q_OBJECT
 public:
  LegendEntry(const Theme& theme, LatencyCurve curve, const QString& text, QWidget* parent = nullptr);
  void setTheme(const Theme& theme) override;
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return sizeHint(); }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  Theme theme_;
  LatencyCurve curve_;
};

class LatencyLegend : public QWidget {
  Q_OBJECT
 public:
  explicit LatencyLegend(const Theme& theme, QWidget* parent = nullptr);

 signals:
  void toggled(orrery::ui::LatencyCurve curve, bool visible);
};

}  // namespace orrery::ui
