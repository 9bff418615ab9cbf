#include "ui/graph/arrangement.h"

#include <algorithm>
#include <vector>

namespace orrery::ui {
namespace {

bool isIn(const std::string& path, const std::string& scope) {
  return scope.empty() || path == scope ||
         (path.size() > scope.size() && path.starts_with(scope) && path[scope.size()] == '.');
}

/// Moves what is under `from`, and under what lies in it, to the same place under `to`.
template <class Map>
void renameKeys(Map& map, const std::string& from, const std::string& to) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : map)
    if (isIn(key, from)) keys.push_back(key);
  for (const std::string& key : keys) {
    auto entry = map.extract(key);
    entry.key() = to + key.substr(from.size());
    map.insert(std::move(entry));
  }
}

}  // namespace

const KeptGroup* Arrangement::find(const std::string& group) const {
  const auto found = groups.find(group);
  return found == groups.end() ? nullptr : &found->second;
}

bool Arrangement::touches(const std::string& group) const {
  return std::any_of(groups.begin(), groups.end(),
                     [&group](const auto& kept) { return isIn(kept.first, group); });
}

void Arrangement::put(const std::string& group, const std::string& child, const Rect& box) {
  KeptGroup& kept = groups[group];
  kept.boxes[child] = box;
  kept.byHand.insert(child);
}

void Arrangement::rename(const std::string& from, const std::string& to) {
  if (from == to || from.empty()) return;
  renameKeys(groups, from, to);
  renameKeys(notes, from, to);
  for (auto& [path, kept] : groups) {
    renameKeys(kept.boxes, from, to);
    renameKeys(kept.itemOf, from, to);
    if (kept.byHand.erase(from) > 0) kept.byHand.insert(to);
  }
}

}  // namespace orrery::ui
