// What a row took, run after run: the median with its spread, under the version of the program that it was
// timed by. One that got slower by more than both spread is ringed.
#pragma once

#include "ui/lab/lab_rows.h"
#include "ui/plot/plot.h"
#include "ui/widgets/themed.h"

namespace orrery::ui {

class LabHistory : public Plot, public Themed {
  Q_OBJECT
 public:
  explicit LabHistory(const Theme& theme, QWidget* parent = nullptr);

  /// The times of the row on the problem of the run, with as many threads; null: none.
  void show(const std::vector<api::KeptLabRun>& history, const api::LabRun* run, const std::string& row);
  /// How many times are drawn.
  int times() const { return points_->dataCount(); }
  /// Those that are ringed, by their place.
  const std::vector<int>& slower() const { return slower_; }
  void setTheme(const Theme& theme) override;

 protected:
  bool event(QEvent* event) override;

 private:
  void styleAll();

  Theme theme_;
  QCPGraph *points_, *rings_;
  QCPErrorBars* spread_;
  QCPItemText* empty_;
  QStringList tips_;
  std::vector<int> slower_;
};

}  // namespace orrery::ui
