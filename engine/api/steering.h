// The vectors that steer makes of two texts.
#pragma once

#include <vector>

#include "engine/api/session_impl.h"

namespace orrery::api {

/// The edits, each steer by texts with its vector: the mean of what leaves its scope over the tokens of one
/// text, less that over those of the other, as the model is once the edits before it are made. The first
/// token of a text is left out, which most models use as a place to look when there is nothing to see.
/// Where an edit cannot be made, the rest is as it was: who makes them tells why.
Result<std::vector<edit::Edit>> with_vectors(const SessionImpl& session, const SessionState& now,
                                             std::vector<edit::Edit> edits, const Watch& watch);

}  // namespace orrery::api
