// The device switch of the tool bar: moves the drawn model, or opens the chat's model on a second device
// beside its own.
#pragma once

#include "ui/frame/workspace.h"

namespace orrery::ui {

class MainToolBar;

class DeviceChoice : public QObject {
  Q_OBJECT
 public:
  /// `both`: on the first CUDA device too, once the devices are known.
  DeviceChoice(Workspace& work, MainToolBar* tools, bool both, QObject* parent = nullptr);

  /// The model is still to be opened on a second device.
  bool awaitsSecond() const;

 private:
  void choose(const std::string& device);

  Workspace& work_;
  MainToolBar* tools_;
  bool bothAsked_;  // from the start, before the devices are known
};

}  // namespace orrery::ui
