// Sources that a person puts down, from what is typed for them:
//
//   input      x f32 n, 64                    its name, the type of its elements (f32 where it is left out),
//   its sizes constant   half = 0.5                     mask bool = 0, 1; 1, 0     w = /data/w.npy weight w =
//   /data/w.npy                stays in its file; a linear can have it
#pragma once

#include "ui/graph/edit_words.h"

namespace orrery::ui {

struct SourceRequest {
  EditRequest request;
  std::string path;  // of the node that it makes
};

/// What is to be typed for a source of the op.
QString sourceHint(const std::string& op);
/// Refused: what cannot be read so. The rest is the engine's to say.
Result<SourceRequest> sourceRequest(const graph::Graph& graph, const std::string& op,
                                    const std::string& scope, const QString& words);
/// A weight of the file, called as the file is.
SourceRequest weightRequest(const graph::Graph& graph, const std::string& scope, const QString& file);

}  // namespace orrery::ui
