// Replies before and after, as a page of the window.
#pragma once

#include "ui/frame/page.h"

namespace orrery::ui {

Page repliesPage();

}  // namespace orrery::ui
