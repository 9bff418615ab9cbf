// The rows of a sweep that cost least, made as one edit: "Bypass the 3 cheapest".
#pragma once

#include <QSpinBox>

#include "ui/session/sweep_controller.h"
#include "ui/widgets/buttons.h"

namespace orrery::ui {

class CheapestRow : public QWidget {
  Q_OBJECT
 public:
  CheapestRow(const Theme& theme, SweepController* sweeps, QWidget* parent = nullptr);

  /// As the sweep and the model are now.
  void refresh();
  QSpinBox* number() const { return number_; }
  Button* button() const { return make_; }

 signals:
  void editsAsked(const std::vector<orrery::edit::Edit>& edits, const QString& name);

 private:
  void make();

  SweepController* sweeps_;
  QSpinBox* number_;
  Button* make_;
};

/// "Bypass the 3 cheapest", "Bypass layers.3" where `place` is one.
QString wordsOf(const api::SweepRequest& request, const QString& place);

}  // namespace orrery::ui
