// What the status line says.
#pragma once

#include "ui/shell/status_strip.h"

namespace orrery::ui {

class Workspace;

/// Of the model that is drawn; what the window does may be the other one's work.
StatusFacts statusFacts(const Workspace& work);

}  // namespace orrery::ui
