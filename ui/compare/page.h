// Compare as a page of the window.
#pragma once

#include "ui/frame/page.h"

namespace orrery::ui {

Page comparePage();

}  // namespace orrery::ui
