#include "ui/shell/device_choice.h"

#include "ui/placement/place_menu.h"
#include "ui/session/second_device.h"
#include "ui/shell/tool_bar.h"

namespace orrery::ui {

DeviceChoice::DeviceChoice(Workspace& work, MainToolBar* tools, bool both, QObject* parent)
    : QObject(parent), work_(work), tools_(tools), bothAsked_(both) {
  const QString refusal = QString::fromStdString(work_.services().cudaRefusal);
  tools_->setDevices({}, refusal);
  work_.places()->setDevices({}, refusal);
  tools_->setDevice(work_.options().device, false);
  connect(tools_, &MainToolBar::deviceChosen, this, &DeviceChoice::choose);
  connect(tools_, &MainToolBar::bothChosen, this, [this] {
    emit work_.drawAsked(work_.session());  // it is the chat's model that runs on both
    work_.both()->open(tools_->cuda());
  });
  connect(&work_, &Workspace::devicesListed, this, [this](const Devices& devices, const QString& refusal) {
    tools_->setDevices(devices, refusal);
    if (std::exchange(bothAsked_, false) && refusal.isEmpty()) work_.both()->open(tools_->cuda());
  });
}

bool DeviceChoice::awaitsSecond() const { return bothAsked_ || work_.both()->second()->loading(); }

/// Of the model that is drawn.
void DeviceChoice::choose(const std::string& device) {
  if (work_.drawn() == work_.classifier()) return work_.classifier()->moveTo(device);
  work_.both()->close();
  work_.setDevice(device);
  tools_->setDevice(device, false);
  work_.session()->moveTo(device);
}

}  // namespace orrery::ui
