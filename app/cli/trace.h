// A profile as a trace that Perfetto (ui.perfetto.dev) and Chrome open.
#pragma once

#include <string>

#include "engine/api/types.h"

namespace orrery::cli {

/// One step of each phase, its nodes one after the other with their mean times. Times in microseconds.
/// `title` names what ran and where: "smollm2 on cuda:0".
std::string trace_json(const graph::Graph& fused, const std::vector<api::Profile>& profiles,
                       const std::string& title);

}  // namespace orrery::cli
