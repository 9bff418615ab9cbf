// Files that are dropped on a window are opened, wherever in it they are dropped; on a widget with this
// property those whose names end so are its own.
#pragma once

namespace orrery::ui {

inline constexpr const char* kTakesFiles = "takesFiles";  // ".npy"

}  // namespace orrery::ui
