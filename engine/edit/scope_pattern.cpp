#include "engine/edit/scope_pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "engine/edit/names.h"
#include "engine/edit/number_in.h"
#include "engine/edit/words.h"

namespace orrery::edit {
namespace {

PatternPart parse_part(std::string_view text) {
  PatternPart part;
  part.text = text;
  if (text == "*") part.kind = PatternPart::Kind::any;
  if (const size_t dash = text.find('-'); dash != std::string_view::npos) {
    const auto first = number_in<int64_t>(text.substr(0, dash)),
               last = number_in<int64_t>(text.substr(dash + 1));
    if (first && last) {
      part.kind = PatternPart::Kind::range;
      part.first = *first;
      part.last = *last;
    }
  }
  return part;
}

bool matches(const std::vector<PatternPart>& pattern, const std::vector<std::string_view>& path) {
  return path.size() >= pattern.size() &&
         std::equal(pattern.begin(), pattern.end(), path.begin(),
                    [](const PatternPart& part, std::string_view text) { return part.matches(text); });
}

/// The numbers that were found of each part that is a range.
using Seen = std::vector<std::set<int64_t>>;

void note_numbers(const std::vector<PatternPart>& pattern, const std::vector<std::string_view>& path,
                  Seen& seen) {
  for (size_t i = 0; i < pattern.size(); ++i)
    if (pattern[i].kind == PatternPart::Kind::range) seen[i].insert(*number_in<int64_t>(path[i]));
}

Error no_such_scope(const graph::Graph& graph, std::string_view pattern, std::string what) {
  pattern = pattern.substr(0, 200);
  return {ErrorCode::not_found, std::move(what), std::string(pattern),
          offer(nearest_names(graph, pattern),
                "choose a scope of the outline, such as layers.3, layers.* or layers.4-7")};
}

Result<std::vector<std::string>> match_one(const graph::Graph& graph, std::string_view pattern) {
  const std::vector<PatternPart> parts = parse_pattern(pattern);
  Seen seen(parts.size());
  std::vector<std::string> scopes;
  std::set<std::string, std::less<>> known;
  for (const NodeId id : graph.order()) {
    const std::string path = graph.node(id).path();
    const std::vector<std::string_view> path_parts = split(path, '.');
    if (!matches(parts, path_parts)) continue;
    note_numbers(parts, path_parts, seen);
    const std::string_view last = path_parts[parts.size() - 1];
    const std::string_view scope(path.data(), static_cast<size_t>(last.data() + last.size() - path.data()));
    if (known.emplace(scope).second) scopes.emplace_back(scope);
  }
  if (scopes.empty()) return no_such_scope(graph, pattern, "The graph has no such scope");
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].kind != PatternPart::Kind::range) continue;
    if (seen[i].contains(parts[i].first) && seen[i].contains(parts[i].last)) continue;
    Error error = no_such_scope(
        graph, pattern, fmt::format("The graph does not have both ends of the range {}", parts[i].text));
    error.advice = fmt::format("it has {} to {} of it", *seen[i].begin(), *seen[i].rbegin());
    return error;
  }
  return scopes;
}

}  // namespace

bool PatternPart::matches(std::string_view part) const {
  if (kind != Kind::range) return kind == Kind::any || part == text;
  const auto value = number_in<int64_t>(part);
  return value && *value >= first && *value <= last;
}

std::vector<PatternPart> parse_pattern(std::string_view pattern) {
  std::vector<PatternPart> parts;
  for (const std::string_view text : split(pattern, '.')) parts.push_back(parse_part(text));
  return parts;
}

Result<std::vector<std::string>> match_scopes(const graph::Graph& graph, std::string_view patterns) {
  std::vector<std::string> scopes;
  std::set<std::string> known;
  for (const std::string_view pattern : split(patterns, ',')) {
    ORRERY_ASSIGN(std::vector<std::string> matched, match_one(graph, pattern));
    for (std::string& scope : matched)
      if (known.insert(scope).second) scopes.push_back(std::move(scope));
  }
  return scopes;
}

}  // namespace orrery::edit
