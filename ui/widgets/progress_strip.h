// What is loading, a 6 px bar, amount, rate, time left, Cancel.
#pragma once

#include <QWidget>

#include "ui/session/session_controller.h"
#include "ui/widgets/buttons.h"
#include "ui/widgets/meter.h"
#include "ui/widgets/text.h"

namespace orrery::ui {

class ProgressStrip : public QWidget, public Themed {
  Q_OBJECT
 public:
  explicit ProgressStrip(const Theme& theme, QWidget* parent = nullptr);
  void begin(const QString& title);
  void setProgress(const LoadProgress& progress);
  void setTheme(const Theme& theme) override;

 signals:
  void cancelled();

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  Theme theme_;
  Text *title_, *figures_;
  Meter* meter_;
};

}  // namespace orrery::ui
