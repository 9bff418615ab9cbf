// steer by two texts: a graph alone cannot tell what they make of it, so whoever runs the model gives the
// edit its vector before it is made.
#pragma once

#include <span>

#include "engine/edit/edit.h"

namespace orrery::edit {

struct TextsToSteer {
  ValueId stream;  // that leaves the scope
  std::string toward, from;
};
/// Whether it is a steer by texts that has no vector yet.
bool wants_vector(const Edit& edit);
/// Of such an edit. Refused as the edit itself would be.
Result<TextsToSteer> texts_to_steer(const graph::Graph& graph, const Edit& edit);

/// The edit with its vector, as a recipe keeps it: float32 in base64.
Edit with_vector(Edit edit, std::span<const float> vector);

}  // namespace orrery::edit
