#include "engine/edit/scope_pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "engine/edit/number_in.h"

namespace orrery::edit {
namespace {

std::vector<std::string_view> split(std::string_view text, char separator = '.') {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

struct Part {
  enum class Kind : uint8_t { text, any, range } kind = Kind::text;
  std::string_view text;
  int64_t first = 0, last = 0;
  std::set<int64_t> seen;  // the ends of the range that were found

  bool matches(std::string_view part) const {
    if (kind != Kind::range) return kind == Kind::any || part == text;
    const auto value = number_in<int64_t>(part);
    return value && *value >= first && *value <= last;
  }
};

Part parse_part(std::string_view text) {
  Part part;
  part.text = text;
  if (text == "*") part.kind = Part::Kind::any;
  if (const size_t dash = text.find('-'); dash != std::string_view::npos) {
    const auto first = number_in<int64_t>(text.substr(0, dash)),
               last = number_in<int64_t>(text.substr(dash + 1));
    if (first && last) {
      part.kind = Part::Kind::range;
      part.first = *first;
      part.last = *last;
    }
  }
  return part;
}

bool match(std::vector<Part>& pattern, const std::vector<std::string_view>& path) {
  if (path.size() < pattern.size()) return false;
  for (size_t i = 0; i < pattern.size(); ++i)
    if (!pattern[i].matches(path[i])) return false;
  for (size_t i = 0; i < pattern.size(); ++i)
    if (pattern[i].kind == Part::Kind::range)
      if (const int64_t value = *number_in<int64_t>(path[i]);
          value == pattern[i].first || value == pattern[i].last)
        pattern[i].seen.insert(value);
  return true;
}

Result<std::vector<std::string>> match_one(const graph::Graph& graph, std::string_view pattern) {
  std::vector<Part> parts;
  for (const std::string_view text : split(pattern)) parts.push_back(parse_part(text));
  std::vector<std::string> scopes;
  std::set<std::string, std::less<>> known;
  for (const NodeId id : graph.order()) {
    const std::string path = graph.node(id).path();
    const std::vector<std::string_view> path_parts = split(path);
    if (!match(parts, path_parts)) continue;
    const std::string_view last = path_parts[parts.size() - 1];
    const std::string_view scope(path.data(), static_cast<size_t>(last.data() + last.size() - path.data()));
    if (known.emplace(scope).second) scopes.emplace_back(scope);
  }
  const auto refuse = [&](std::string what) {
    return Error{ErrorCode::not_found, std::move(what), std::string(pattern.substr(0, 200)),
                 "choose a scope of the outline, such as layers.3, layers.* or layers.4-7"};
  };
  if (scopes.empty()) return refuse("The graph has no such scope");
  for (const Part& part : parts)
    if (part.kind == Part::Kind::range && part.seen.size() < (part.first == part.last ? 1U : 2U))
      return refuse(fmt::format("The graph does not have both ends of the range {}", part.text));
  return scopes;
}

}  // namespace

Result<std::vector<std::string>> match_scopes(const graph::Graph& graph, std::string_view patterns) {
  std::vector<std::string> scopes;
  for (const std::string_view pattern : split(patterns, ',')) {
    ORRERY_ASSIGN(const std::vector<std::string> matched, match_one(graph, pattern));
    for (const std::string& scope : matched)
      if (std::find(scopes.begin(), scopes.end(), scope) == scopes.end()) scopes.push_back(scope);
  }
  return scopes;
}

}  // namespace orrery::edit
