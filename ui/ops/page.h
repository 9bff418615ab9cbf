// The list of ops as a page of the window.
#pragma once

#include "ui/frame/page.h"

namespace orrery::ui {

Page opsPage();

}  // namespace orrery::ui
