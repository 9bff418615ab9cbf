// Files that cannot run, opened to be looked at.
#pragma once

#include "engine/api/session.h"

namespace orrery::api {

/// As Session::open, but a file that cannot run (`unsupported`: its architecture, a type, a tokenizer) is
/// opened to be looked at: its graph as far as it is known, or its tensors by their names. info().cannot_run
/// says why; all that would run it, edit it or read text with it is refused with that. A recipe asks for a
/// model that runs. The file of a graph of one's own is opened as open_graph_file() does, in exact
/// arithmetic.
Result<std::shared_ptr<Session>> open_or_show(const OpenOptions& options, const ProgressCallback& progress,
                                              std::stop_token stop);

}  // namespace orrery::api
