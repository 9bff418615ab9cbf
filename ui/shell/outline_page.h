// The outline as a page of the window. What it shows is DrawnModel's business.
#pragma once

#include "ui/frame/page.h"

namespace orrery::ui {

Page outlinePage();

}  // namespace orrery::ui
