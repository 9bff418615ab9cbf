// What a kernel is run on: the problem in its own words, those of models in use, the devices, the threads.
#pragma once

#include <QCheckBox>
#include <QComboBox>
#include <QLineEdit>
#include <QSpinBox>

#include "ui/session/lab_controller.h"
#include "ui/widgets/text.h"

namespace orrery::ui {

class ProblemPanel : public QWidget, public Themed {
  Q_OBJECT
 public:
  explicit ProblemPanel(const Theme& theme, QWidget* parent = nullptr);

  /// Null: none is chosen. What was typed for a kernel is kept.
  void show(const api::LabKernel* kernel);
  /// Those of the machine; what cannot be used says why. At first what models run on (`used`) is chosen.
  void setDevices(const std::vector<api::DeviceEntry>& devices, const std::string& used);
  /// What is wrong with the problem, below its field; empty: nothing.
  void setProblem(const QString& words);
  /// As if they were typed.
  void setWords(const QString& words);
  LabAsk ask() const;

  QLineEdit* shape() const { return shape_; }
  QComboBox* known() const { return known_; }
  QComboBox* blocks() const { return blocks_; }
  QSpinBox* threads() const { return threads_; }
  const std::vector<QCheckBox*>& devices() const { return devices_; }
  QString problem() const { return problem_->text(); }
  void setTheme(const Theme& theme) override;

 signals:
  void changed();
  void runAsked();

 private:
  void setupLayout();
  void enableDevices();
  void fillBlocks(const api::LabKernel& kernel);

  Theme theme_;
  Text* hint_;
  QLineEdit* shape_;
  Text* problem_;
  Text* knownTitle_;
  QComboBox *known_, *blocks_;
  QWidget* deviceRow_;
  std::vector<QCheckBox*> devices_;
  std::map<QString, QString> refusals_;  // by device
  QSpinBox* threads_;
  std::string kernel_;
  bool cuda_ = false;                     // the kernel has rows of cards
  std::map<std::string, QString> typed_;  // by kernel
};

}  // namespace orrery::ui
