#pragma once

#include "engine/text/jinja_ast.h"

namespace orrery::text::jinja {

/// Renders a template with its global variables. Ends within the budget, whatever the template does.
Result<std::string> render(const Block& block, std::vector<std::pair<std::string, Value>> globals);

}  // namespace orrery::text::jinja
