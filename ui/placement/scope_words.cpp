#include "ui/placement/scope_words.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

namespace orrery::ui {
namespace {

/// What one name of a path has to be: itself, with * for any letters, or a number of a range.
struct Part {
  std::string text;
  int first = 0, last = -1;  // of "4-7"; no range: last < first
};
using Pattern = std::vector<Part>;

std::optional<int> numberIn(std::string_view text) {
  int number = 0;
  const char* end = text.data() + text.size();
  const auto [read, error] = std::from_chars(text.data(), end, number);
  const bool whole = error == std::errc() && read == end && text.front() != '-';
  return whole ? std::optional(number) : std::nullopt;
}

Part partOf(const std::string& text) {
  Part part{text};
  const size_t dash = text.find('-');
  if (dash == std::string::npos) return part;
  const std::string_view whole = text;
  const auto first = numberIn(whole.substr(0, dash)), last = numberIn(whole.substr(dash + 1));
  if (first && last) part = {text, *first, *last};
  return part;
}

bool matchesWildcards(std::string_view pattern, std::string_view text) {
  const size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == text;
  if (text.substr(0, star) != pattern.substr(0, star)) return false;
  for (size_t rest = star; rest <= text.size(); ++rest)
    if (matchesWildcards(pattern.substr(star + 1), text.substr(rest))) return true;
  return false;
}

bool matches(const Part& part, std::string_view text) {
  if (part.last < part.first) return matchesWildcards(part.text, text);
  if (text.size() > 1 && text.front() == '0') return false;  // no number is written so
  const std::optional<int> number = numberIn(text);
  return number && *number >= part.first && *number <= part.last;
}

/// The path itself, and with `below` whatever is below it.
bool matches(const Pattern& pattern, std::string_view path, bool below) {
  for (size_t i = 0; i < pattern.size(); ++i) {
    const size_t dot = path.find('.');
    if (!matches(pattern[i], path.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return i + 1 == pattern.size();
    path.remove_prefix(dot + 1);
  }
  return below;
}

std::vector<Pattern> patternsOf(const QString& scopes) {
  std::vector<Pattern> patterns;
  for (const QString& scope : scopes.split(',', Qt::SkipEmptyParts)) {
    Pattern pattern;
    for (const QString& part : scope.split('.')) pattern.push_back(partOf(part.toStdString()));
    patterns.push_back(std::move(pattern));
  }
  return patterns;
}

bool matchesAny(const std::vector<Pattern>& patterns, std::string_view path, bool below) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const Pattern& pattern) { return matches(pattern, path, below); });
}

}  // namespace

std::vector<NodeId> nodesIn(const graph::Graph& graph, const QString& scopes) {
  const std::vector<Pattern> patterns = patternsOf(scopes);
  std::vector<NodeId> nodes;
  if (patterns.empty()) return nodes;
  for (const NodeId id : graph.order()) {
    const graph::Node& node = graph.node(id);
    if (!node.is_source() && matchesAny(patterns, node.path(), true)) nodes.push_back(id);
  }
  return nodes;
}

bool namesScope(const QString& scopes, const QString& scope) {
  return matchesAny(patternsOf(scopes), scope.toStdString(), false);
}

QString scopeWord(const QStringList& scopes) { return scopes.join(',').replace(QChar(0x2013), '-'); }

QString outerScope(const QString& scope) {
  return scope.left(std::max<qsizetype>(0, scope.lastIndexOf('.')));
}

QStringList modelPaths(const graph::Graph& model, const graph::Graph& shown, NodeId id) {
  const graph::Node* node = shown.find(id);
  if (!node) return {};
  QStringList paths;
  const auto add = [&](NodeId source) {
    if (const graph::Node* own = model.find(source)) paths += QString::fromStdString(own->path());
  };
  if (node->origins.empty()) add(id);
  for (const graph::Origin& origin : node->origins) add(origin.node);
  return paths;
}

}  // namespace orrery::ui
