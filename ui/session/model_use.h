// What can be done with a model that is open.
#pragma once

#include "engine/api/types.h"

namespace orrery::ui {

/// Others can be looked at only; ModelInfo::cannot_run says why.
inline bool runs(const api::ModelInfo& info) { return info.cannot_run.empty(); }
inline bool writesText(const api::ModelInfo& info) { return runs(info) && info.task == api::Task::generate; }

/// The phase whose figures are shown: an encoder has one, which its tables call prefill.
inline api::Phase phaseShown(const api::ModelInfo& info, api::Phase chosen) {
  return info.task == api::Task::generate ? chosen : api::Phase::prefill;
}

}  // namespace orrery::ui
