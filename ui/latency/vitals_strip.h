// What a card says of itself, in one line at the plot's foot: clock, power, memory, temperature.
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
  /// Hidden without a device that says anything.
  void setDevice(const DeviceLine& device);
  /// Caption and value, as they are written: {"clock", "1 980 MHz"}. What the card does not say is left out.
  const std::vector<std::pair<QString, QString>>& figures() const { return figures_; }
  void setTheme(const Theme& theme) override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  Theme theme_;
  QString title_, name_;
  std::vector<std::pair<QString, QString>> figures_;
};

}  // namespace orrery::ui
