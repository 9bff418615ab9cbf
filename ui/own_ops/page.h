// Ops of one's own as a page of the window.
#pragma once

#include "ui/frame/page.h"

namespace orrery::ui {

Page ownOpsPage();

}  // namespace orrery::ui
