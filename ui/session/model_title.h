// How a model is called in the window: by its file, as people know it, without the suffix and the dtype that
// is shown beside it; a library name or a folder by that name.
#pragma once

#include <QString>

#include "engine/api/types.h"

namespace orrery::ui {

QString modelTitle(const api::ModelInfo& info);
/// "SmolLM2" of "SmolLM2-135M-Instruct", for sentences.
QString modelShortTitle(const api::ModelInfo& info);
/// "CPU", "CUDA 0".
QString deviceTitle(const std::string& device);

}  // namespace orrery::ui
