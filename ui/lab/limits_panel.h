// What limits the chosen row: its share of each roof, a sentence, and what else its time tells.
#pragma once

#include <array>

#include "ui/lab/lab_limits.h"
#include "ui/widgets/meter.h"
#include "ui/widgets/text.h"

namespace orrery::ui {

class LimitsPanel : public QWidget {
  Q_OBJECT
 public:
  explicit LimitsPanel(const Theme& theme, QWidget* parent = nullptr);

  /// Null: no row, or none that was timed.
  void show(const LabRow* row, const api::LabRun* run, const LabRow* before);
  const LabLimits& limits() const { return limits_; }
  QString verdict() const { return verdict_->text(); }

 private:
  struct RoofLine {
    Text* name;
    Meter* bar;
    Text* share;
  };
  struct FactLine {
    Text *name, *value;
  };

  LabLimits limits_;
  std::array<RoofLine, 2> roofs_;
  Text* verdict_;
  std::array<FactLine, 4> facts_;
};

}  // namespace orrery::ui
