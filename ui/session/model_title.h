// How a model is called in the window where it was not chosen by a name: by its adapter, by its name in the
// library, or by its file, as people know it, without the suffix and the dtype that is shown beside it.
#pragma once

#include <QString>

#include "engine/api/session.h"

namespace orrery::ui {

QString modelTitle(const api::Session& session);
/// "SmolLM2" of "SmolLM2-135M-Instruct", for sentences.
QString shortTitle(const QString& title);
/// "CPU", "CUDA 0".
QString deviceTitle(const std::string& device);

}  // namespace orrery::ui
