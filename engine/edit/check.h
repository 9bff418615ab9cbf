#pragma once

#include "engine/edit/edit.h"

namespace orrery::edit {

/// The verb exists and has the fields that it takes, no others.
Result<void> check(const Edit& edit);

}  // namespace orrery::edit
