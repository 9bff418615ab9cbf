// The page that tells two models apart.
#pragma once

#include "ui/frame/page.h"

namespace orrery::ui {

Page diffPage();

}  // namespace orrery::ui
