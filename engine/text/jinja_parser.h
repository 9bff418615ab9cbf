#pragma once

#include <string_view>

#include "engine/text/jinja_ast.h"

namespace orrery::text::jinja {

/// A syntax error, an unknown tag, or nesting deeper than the limit is refused with its line.
Result<Block> parse(std::string_view source);

}  // namespace orrery::text::jinja
