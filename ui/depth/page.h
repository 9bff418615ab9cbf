// Depth as a page of the window.
#pragma once

#include "ui/frame/page.h"

namespace orrery::ui {

Page depthPage();

}  // namespace orrery::ui
