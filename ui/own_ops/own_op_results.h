// What a trial found: what it checked, how far the bodies are from each other and how long they take, case by
// case; and what remains at the person's own risk.
#pragma once

#include "ui/own_ops/own_op_draft.h"
#include "ui/widgets/ground_scroll.h"
#include "ui/widgets/text.h"

namespace orrery::ui {

/// The cases of a trial: under the sizes of each a line for every device.
class TrialCases : public QWidget, public Themed {
  Q_OBJECT
 public:
  TrialCases(const Theme& theme, const std::vector<custom::TrialCase>& cases, QWidget* parent = nullptr);
  /// What is drawn, line by line.
  QStringList words() const;
  void setTheme(const Theme& theme) override;
  QSize sizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  struct Line {
    QString sizes = {};  // of a case, or the body's name in a head; else it is a device's:
    QString device = {}, time = {}, difference = {}, to = {};
    bool head = false, over = false, card = false;
  };
  Theme theme_;
  std::vector<Line> lines_;
};

class OwnOpResults : public QWidget {
  Q_OBJECT
 public:
  explicit OwnOpResults(const Theme& theme, QWidget* parent = nullptr);
  /// Null: nothing is chosen.
  void show(OwnOpDraft* draft);
  QStringList words() const;

 private:
  void say(const QString& words, Token token);
  void showTrial(OwnOpDraft& draft);

  Theme theme_;
  Text* title_;
  GroundScroll* scroll_;
  QWidget* shown_ = nullptr;
  TrialCases* cases_ = nullptr;
};

/// "The CUDA body and the CPU body differ by 3.1e-07 at most, where 1.0e-05 is allowed (5 sizes)": for each
/// device and what its numbers were held against.
QStringList trialSummary(const std::vector<custom::TrialCase>& cases);

}  // namespace orrery::ui
