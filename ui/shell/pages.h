// The pages of the window, in the order of their docks and of the keys that turn to them.
#pragma once

#include <vector>

#include "ui/frame/page.h"

namespace orrery::ui {

std::vector<Page> allPages();

}  // namespace orrery::ui
