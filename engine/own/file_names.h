// Names of nodes in a graph's file: scopes and a name, with dots between.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "engine/base/result.h"

namespace orrery::own {

/// Refuses what is no name: letters, digits, _, - and @, with single dots between scopes.
Result<void> check_name(std::string_view name, const std::string& where);

/// "block.y" is y in block.
std::pair<std::string, std::string> scope_and_name(std::string_view path);

}  // namespace orrery::own
