// The curves' names in the dock's title; a click hides or shows one.
#pragma once

#include <QAbstractButton>

#include "ui/latency/latency_series.h"
#include "ui/widgets/themed.h"

namespace orrery::ui {

class LegendEntry : public QAbstractButton, public Themed {
  Q_OBJECT
 public:
  LegendEntry(const Theme& theme, LatencyCurve curve, const QString& text, QWidget* parent = nullptr);
  LatencyCurve curve() const { return curve_; }
  void setToken(Token token);
  void setCaption(const QString& text);
  void setTheme(const Theme& theme) override;
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return sizeHint(); }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  Theme theme_;
  LatencyCurve curve_;
  Token token_ = Token::cpu;
};

class LatencyLegend : public QWidget {
  Q_OBJECT
 public:
  explicit LatencyLegend(const Theme& theme, QWidget* parent = nullptr);
  /// Whose times the curves are, "CPU", "CUDA 0", and what is timed: tokens, or texts, which have no prefill.
  void setDevice(const QString& name, Token token, bool texts);
  /// Two devices' curves, which carry their names themselves.
  void setPair();

 signals:
  void toggled(orrery::ui::LatencyCurve curve, bool visible);
};

}  // namespace orrery::ui
