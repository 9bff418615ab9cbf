// What each card in use says of itself, a line each at the plot's foot: clock, power, memory, temperature.
#pragma once

#include <QString>
#include <QWidget>
#include <vector>

#include "ui/frame/device_in_use.h"
#include "ui/widgets/themed.h"

namespace orrery::ui {

class VitalsStrip : public QWidget, public Themed {
  Q_OBJECT
 public:
  VitalsStrip(const Theme& theme, QWidget* parent = nullptr);
  struct Line {
    QString title, name;
    /// Caption and value, as they are written: {"clock", "1 980 MHz"}. What the card does not say is left
    /// out.
    std::vector<std::pair<QString, QString>> figures;
    friend bool operator==(const Line&, const Line&) = default;
  };
  /// Hidden without a device that says anything.
  void setDevices(const std::vector<DeviceLine>& devices);
  const std::vector<Line>& lines() const { return lines_; }
  void setTheme(const Theme& theme) override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  void paintLine(QPainter& painter, const Line& line, double top) const;
  void fitHeight();

  Theme theme_;
  std::vector<Line> lines_;
};

}  // namespace orrery::ui
