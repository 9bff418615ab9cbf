#pragma once

#include "ui/frame/page.h"

namespace orrery::ui {

/// What a graph of one's own is given and makes.
Page valuesPage();

}  // namespace orrery::ui
