// A JSON text as a tree of a few levels, for formats that are more than keys and values. Read by events, so
// that depth and size cannot hurt.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

#include "engine/base/result.h"

namespace orrery::own {

using Json = nlohmann::json;

/// Refused: a text that is no JSON, a key that comes twice in one object, more levels than 16, and more
/// entries than 48 MB and twice the text hold. Errors name `where` and the byte.
Result<Json> parse_json(std::string_view text, std::string_view where);

}  // namespace orrery::own
