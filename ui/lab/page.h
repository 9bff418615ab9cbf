// The kernel lab as a page of the window.
#pragma once

#include "ui/frame/page.h"

namespace orrery::ui {

Page labPage();

}  // namespace orrery::ui
