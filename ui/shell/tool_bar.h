// The window's tool bar: files, undo, the model, the device, run and stop, heat, phase, fit, find. In a
// narrow window fields are shorter, then the graph's icons and then heat and phase go into a menu; nothing is
// cut off.
#pragma once

#include <QAction>
#include <QToolBar>

#include "ui/graph/figures.h"
#include "ui/session/session_controller.h"
#include "ui/widgets/buttons.h"
#include "ui/widgets/search_field.h"
#include "ui/widgets/segmented.h"

namespace orrery::ui {

class MainToolBar : public QToolBar, public Themed {
  Q_OBJECT
 public:
  /// `actions`: shown as icon buttons at the left, `graph` beside heat and phase. Each action's data is its
  /// icon.
  MainToolBar(const Theme& theme, const std::vector<QAction*>& actions, const std::vector<QAction*>& graph,
              QWidget* parent = nullptr);

  DropButton* modelButton() const { return model_; }
  Segmented* device() const { return device_; }
  Segmented* phase() const { return phase_; }
  SearchField* find() const { return find_; }
  Button* runButton() const { return run_; }
  void setRunning(bool running, bool possible);
  /// The keys that are written on the button and in the field.
  void setKeys(const QKeySequence& run, const QKeySequence& stop, const QKeySequence& find);
  /// The CUDA devices that can be used; without any, why.
  void setDevices(const Devices& devices, const QString& refusal);
  /// Where the model runs; with `both` beside it on another device too.
  void setDevice(const std::string& device, bool both);
  /// The CUDA device of the switch: the one last used, else the first.
  const std::string& cuda() const { return cuda_; }
  void setHeatMode(HeatMode mode);
  /// The phase that is shown; of a model that does not write text there is one only.
  void setPhase(api::Phase phase, bool writes);
  void setTheme(const Theme& theme) override;
  QSize minimumSizeHint() const override;

 signals:
  void runAsked();
  void stopAsked();
  void heatChosen(orrery::ui::HeatMode mode);
  void phaseChosen(orrery::api::Phase phase);
  void deviceChosen(const std::string& device);
  void bothChosen();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  struct Form;
  static const Form kForms[];
  int widthIn(const Form& form) const;
  void fitInto(int width);
  enum DeviceChoice { cpuChoice, cudaChoice, bothChoice };
  void showDevice();
  void showRunKey();
  QAction* addIcon(QAction* action);
  QAction* addLine();
  void setupRun();
  void setupGraph(const std::vector<QAction*>& actions);
  void setupMore(const std::vector<QAction*>& actions);
  void setupFind();

  Theme theme_;
  DropButton *model_, *heat_;
  Segmented *device_, *phase_;
  QMenu* cudaMenu_;
  std::string cuda_ = "cuda:0", home_ = "cpu";
  bool both_ = false;
  Button* run_;
  SearchField* find_;
  IconButton* more_;
  QWidget* stretch_;
  QAction* moreAction_ = nullptr;
  std::vector<QAction*> graphTools_, icons_;  // what goes into the menu of more_; the icons go first
  std::vector<QAction*> graphEntries_;        // of graphTools_ in that menu
  QKeySequence runKey_, stopKey_;
  bool running_ = false;
};

}  // namespace orrery::ui
