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

/// Beside the devices: the session's recipe, empty without edits; the types that all of the model can be
/// stored as; and other files of the model. The functions name the file that holds the recipe, or the edits
/// that store it so, when a run begins.
struct CompareChoices {
  Devices devices = {};
  std::string edits = {};
  std::vector<std::string> types = {};
  QStringList files = {};
  std::function<std::string()> recipeFile = {};
  std::function<std::string(const std::string& type)> typeFile = {};
};
/// The CPU and its variants, then every CUDA device that can be used and the first one's variants.
std::vector<CompareSetting> compareSettings(const CompareChoices& choices);
/// What tells most against the plain CPU: the first CUDA device, else the CPU with exact arithmetic.
int tellingSetting(const std::vector<CompareSetting>& settings);

}  // namespace orrery::ui
