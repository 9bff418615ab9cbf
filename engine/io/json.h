// JSON as model files need it, read by events so that depth and size cannot hurt: flattened to Metadata, or
// walked.
#pragma once

#include <string_view>

#include "engine/base/metadata.h"
#include "engine/base/result.h"

namespace orrery::io {

/// Flattens an object with dots: {"rope_scaling": {"type": "yarn"}} is "rope_scaling.type". An array of
/// scalars of one kind is one value (integers and reals mixed: reals); any other array is "key.0",
/// "key.1.name". null is left out. Refused: another root than an object, a key that comes twice, more than 64
/// levels, keys of more than 1024 bytes, and more entries than 48 MB hold. Errors name `where` and the byte.
Result<Metadata> flatten_json(std::string_view text, std::string_view where);

}  // namespace orrery::io
