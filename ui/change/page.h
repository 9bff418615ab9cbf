// What an edit will change, as a page of the window.
#pragma once

#include "ui/frame/page.h"

namespace orrery::ui {

Page changePage();

}  // namespace orrery::ui
