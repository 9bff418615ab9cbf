// The history as a page of the window.
#pragma once

#include "ui/frame/page.h"

namespace orrery::ui {

Page historyPage();

}  // namespace orrery::ui
