// The window's tool bar: files, undo, the model, the device, run and stop, heat, phase, fit, find.
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
  /// `actions`: shown as icon buttons in groups; a null parts two groups. Each action's objectName is its
  /// icon.
  MainToolBar(const Theme& theme, const std::vector<QAction*>& actions, QAction* fit,
              QWidget* parent = nullptr);

  DropButton* modelButton() const { return model_; }
  Segmented* device() const { return device_; }
  Segmented* phase() const { return phase_; }
  SearchField* find() const { return find_; }
  Button* runButton() const { return run_; }
  void setRunning(bool running, bool possible);
  /// Empty: the device can be chosen.
  void setCudaRefusal(const QString& reason);
  void setDevice(const std::string& device);
  void setHeatMode(HeatMode mode);
  void setTheme(const Theme& theme) override;

 signals:
  void runAsked();
  void stopAsked();
  void heatChosen(orrery::ui::HeatMode mode);
  void phaseChosen(orrery::api::Phase phase);
  void deviceChosen(int device);

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  IconButton* addIcon(QAction* action);
  void addLine();
  void setupRun();
  void setupGraph(QAction* fit);
  void setupFind();

  Theme theme_;
  DropButton *model_, *heat_;
  Segmented *device_, *phase_;
  Button* run_;
  SearchField* find_;
  bool running_ = false;
};

}  // namespace orrery::ui
