// The inspector as a page of the window.
#pragma once

#include "ui/frame/page.h"

namespace orrery::ui {

Page inspectorPage();

}  // namespace orrery::ui
