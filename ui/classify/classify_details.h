// The chosen text: the probability of each label and the threshold; below, what is true of all texts
// together.
#pragma once

#include <QSlider>
#include <QWidget>

#include "ui/classify/confusion_view.h"
#include "ui/widgets/meter.h"
#include "ui/widgets/text.h"

class QVBoxLayout;

namespace orrery::ui {

class ClassifyDetails : public QWidget {
  Q_OBJECT
 public:
  ClassifyDetails(const Theme& theme, ClassifyModel* model, QWidget* parent = nullptr);
  void showRow(int row);
  void showSummary(double milliseconds, bool stopped);
  QSlider* slider() const { return slider_; }
  QString summary() const { return summary_->text(); }
  QString accuracy() const { return accuracy_->text(); }

 private:
  struct Bar {
    Text *name, *value;
    Meter* meter;
  };
  void setupThreshold(const Theme& theme, QVBoxLayout* column);
  void setupConfusion(const Theme& theme, QVBoxLayout* column);
  void makeBars();
  void refresh();

  Theme theme_;
  ClassifyModel* model_;
  Text *title_, *truth_, *thresholdValue_ = nullptr, *accuracy_ = nullptr, *summary_;
  QVBoxLayout* bars_;
  std::vector<Bar> labels_;
  QWidget *thresholdBox_ = nullptr, *confusionBox_ = nullptr;
  QSlider* slider_ = nullptr;
  ConfusionView* confusion_ = nullptr;
  int row_ = -1;
};

}  // namespace orrery::ui
