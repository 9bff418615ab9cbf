// The outline as a page of the window. What it shows is the drawing's business (drawing.h).
#pragma once

#include "ui/frame/page.h"

namespace orrery::ui {

Page outlinePage();

}  // namespace orrery::ui
