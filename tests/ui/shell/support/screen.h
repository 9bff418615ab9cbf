// The screen that a test program has when no real one is shown to it.
#pragma once

#include <QSize>

namespace orrery::ui::testing {

/// Before the application is made. A platform that was asked for by another name than "offscreen" stays.
void useScreen(const QSize& size);

}  // namespace orrery::ui::testing
