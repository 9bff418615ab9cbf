// How the window starts.
#pragma once

#include <optional>

#include "engine/api/session.h"
#include "ui/frame/settings.h"
#include "ui/theme/theme.h"

namespace orrery::ui {

struct WindowOptions {
  QString configFolder;                        // empty: the usual one
  std::optional<ThemeChoice> theme;            // overrides the remembered one, for this start
  QString workspace;                           // of this start; empty: the remembered one
  Theme::Mode systemMode = Theme::Mode::dark;  // the desktop's, taken before our palette was set
  api::OpenOptions open;                       // device and the like of every model opened
  bool both = false;                           // on the first CUDA device too, once the devices are known
};

}  // namespace orrery::ui
