// Ops that were added before are put into the registry while the window starts, which takes long where they
// are compiled anew. What is opened meanwhile may have them, so it waits.
#pragma once

#include "ui/session/services.h"

namespace orrery::ui {

/// The same services, whose open() begins once ownOps.join() has been called and came back; at once where
/// there is no join(). A stop is heard while it waits.
Services afterOwnOps(Services services);

}  // namespace orrery::ui
