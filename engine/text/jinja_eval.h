#pragma once

#include <ctime>

#include "engine/text/jinja_ast.h"

namespace orrery::text::jinja {

/// What a template is rendered with.
struct Context {
  std::vector<std::pair<std::string, Value>> variables;
  std::tm now{};  // local time, for strftime_now
};

/// Ends within the budget, whatever the template does.
Result<std::string> render(const Block& block, const Context& context);

}  // namespace orrery::text::jinja
