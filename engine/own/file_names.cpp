#include "engine/own/file_names.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/io/reader.h"

namespace orrery::own {
namespace {

constexpr size_t kLongestName = 512;

bool is_allowed(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
         c == '@' || c == '.';
}

}  // namespace

Result<void> check_name(std::string_view name, const std::string& where) {
  const bool dots = name.starts_with('.') || name.ends_with('.') || name.find("..") != std::string_view::npos;
  if (!name.empty() && name.size() <= kLongestName && !dots && std::ranges::all_of(name, is_allowed))
    return {};
  return Error{ErrorCode::invalid_argument, fmt::format("{} is no name", io::shown(name)), where,
               "use letters, digits, _, -, @ and dots between scopes"};
}

std::pair<std::string, std::string> scope_and_name(std::string_view path) {
  const size_t dot = path.rfind('.');
  if (dot == std::string_view::npos) return {std::string(), std::string(path)};
  return {std::string(path.substr(0, dot)), std::string(path.substr(dot + 1))};
}

}  // namespace orrery::own
