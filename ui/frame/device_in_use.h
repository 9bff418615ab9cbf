// Which card is in use, and what it says of itself.
#pragma once

#include <QString>

#include "engine/api/session.h"

namespace orrery::ui {

class Workspace;

struct DeviceLine {
  QString title, name;  // "CUDA 0", "NVIDIA H200"; empty: all is on the CPU
  api::DeviceVitals vitals;
};

/// The device that a message or a comparison runs on now.
DeviceLine deviceInUse(const Workspace& work);
/// That of the model that is drawn.
DeviceLine deviceShown(const Workspace& work);

}  // namespace orrery::ui
