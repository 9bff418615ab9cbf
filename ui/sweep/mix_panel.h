// A mix of types for a size: chosen on its curve, predicted until it is measured, and made as one edit.
#pragma once

#include "ui/session/sweep_controller.h"
#include "ui/sweep/bit_bars.h"
#include "ui/sweep/mix_slider.h"
#include "ui/widgets/buttons.h"
#include "ui/widgets/ground_scroll.h"
#include "ui/widgets/text.h"

namespace orrery::ui {

class MixPanel : public QWidget, public Themed {
  Q_OBJECT
 public:
  MixPanel(const Theme& theme, SweepController* sweeps, QWidget* parent = nullptr);

  /// As the sweeps are now; the size that was chosen stays where it can.
  void refresh();
  MixSlider* slider() const { return slider_; }
  Button* makeButton() const { return make_; }
  Button* measureButton() const { return measure_; }
  IconButton* recipeButton() const { return recipe_; }
  BitBars* bars() const { return bars_; }
  QString words() const { return cost_->text(); }
  void setTheme(const Theme& theme) override;

 signals:
  void mixAsked(const std::vector<orrery::edit::Edit>& edits, const QString& name);
  /// To be a recipe of the model, without being made now.
  void recipeAsked(const std::vector<orrery::edit::Edit>& edits);

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void setupLayout();
  void show(uint64_t bytes);

  Theme theme_;
  SweepController* sweeps_;
  Text *title_, *size_, *cost_, *share_, *note_;
  MixSlider* slider_;
  BitBars* bars_;
  GroundScroll* scroll_;  // of the bars
  QBoxLayout* body_;      // curve and bars
  Button *make_, *measure_;
  IconButton* recipe_;
  std::optional<api::MixTable> table_;
  size_t tables_ = 0;  // choices in it: another number is another table
  api::Mix mix_;
  std::vector<edit::Edit> edits_;
  std::vector<edit::Edit> measuredEdits_;
  double measured_ = 0;
};

}  // namespace orrery::ui
