// What a side of a comparison can run on.
#pragma once

#include <QString>
#include <functional>
#include <vector>

#include "ui/session/session_controller.h"

namespace orrery::ui {

/// `change` makes of the model's plain options this setting's; two settings of one key run the same.
struct CompareSetting {
  QString title, key;
  bool device = false;  // not the CPU
  std::function<void(api::OpenOptions&)> change;
};

/// The CPU and its variants, then every CUDA device that can be used and the first one's variants. `edits`:
/// the session's recipe, empty without edits; `recipeFile` names the file that holds it when a run begins.
std::vector<CompareSetting> compareSettings(const Devices& devices, const std::string& edits,
                                            const std::function<std::string()>& recipeFile);
/// What tells most against the plain CPU: the first CUDA device, else the CPU with exact arithmetic.
int tellingSetting(const std::vector<CompareSetting>& settings);

}  // namespace orrery::ui
