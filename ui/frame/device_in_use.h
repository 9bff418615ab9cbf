// Which cards are in use, and what each says of itself.
#pragma once

#include <QString>
#include <vector>

#include "engine/api/session.h"

namespace orrery::ui {

class Workspace;

struct DeviceLine {
  QString title, name;  // "CUDA 0", "NVIDIA H200"
  api::DeviceVitals vitals;
};

/// The cards that a message or a comparison runs on now, each once; none: all is on the CPU.
std::vector<DeviceLine> devicesInUse(const Workspace& work);
/// Those of the model that is drawn.
std::vector<DeviceLine> devicesShown(const Workspace& work);

}  // namespace orrery::ui
