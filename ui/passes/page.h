// The passes of the graph that runs, as a page of the window.
#pragma once

#include "ui/frame/page.h"

namespace orrery::ui {

Page passesPage();

}  // namespace orrery::ui
