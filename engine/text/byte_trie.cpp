#include "engine/text/byte_trie.h"

#include <algorithm>
#include <numeric>
#include <string>

namespace orrery::text {
namespace {

constexpr uint32_t kBytes = 256;
constexpr int kMostTries = 16;  // of places for several children; then those before are given up

}  // namespace

/// Which nodes are free. Places below 256 are never given, so that no base is below 1.
class ByteTrie::Places {
 public:
  explicit Places(std::vector<Node>& nodes) : nodes_(nodes) { grow(2 * kBytes); }

  /// A base whose nodes for `labels`, which ascend, are free; takes them.
  uint32_t take(std::string_view labels) {
    const auto first = static_cast<uint8_t>(labels.front());
    uint32_t& from = labels.size() == 1 ? first_ : first_of_several_;
    from = free_at(from);
    uint32_t place = from;
    for (int tries = 1; !fits(place - first, labels); ++tries) {
      place = free_at(place + 1);
      if (tries >= kMostTries) from = place;
    }
    for (const char label : labels) {
      const uint32_t taken = place - first + static_cast<uint8_t>(label);
      next_[taken] = taken + 1;
    }
    return place - first;
  }

 private:
  void grow(size_t size) {
    const size_t before = next_.size();
    nodes_.resize(size);
    next_.resize(size + 1);
    std::iota(next_.begin() + static_cast<std::ptrdiff_t>(before), next_.end(),
              static_cast<uint32_t>(before));
  }
  /// The first free place from `place` on. Ways through taken ones are halved as they are gone.
  uint32_t free_at(uint32_t place) {
    if (place + 2 * kBytes > nodes_.size()) grow(nodes_.size() + nodes_.size() / 2 + 2 * kBytes);
    while (next_[place] != place) place = next_[place] = next_[next_[place]];
    return place + 2 * kBytes > nodes_.size() ? free_at(place) : place;
  }
  bool fits(uint32_t base, std::string_view labels) const {
    return std::all_of(labels.begin(), labels.end(), [&](char label) {
      const uint32_t place = base + static_cast<uint8_t>(label);
      return next_[place] == place;
    });
  }

  std::vector<Node>& nodes_;
  std::vector<uint32_t> next_;  // of a free place itself, of a taken one some place after it
  uint32_t first_ = kBytes, first_of_several_ = kBytes;  // where looking for a place begins
};

/// The first levels come first and lie together: most walks end there. What is below one of their nodes
/// follows in one piece, a walk's nodes side by side where they have no siblings.
ByteTrie::ByteTrie(std::vector<Entry> entries) {
  constexpr size_t kLevels = 3;
  std::erase_if(entries, [](const Entry& entry) { return entry.text.empty(); });
  std::stable_sort(entries.begin(), entries.end(),
                   [](const Entry& a, const Entry& b) { return a.text < b.text; });
  struct Range {  // of the entries that begin with the string of a node
    size_t begin, end, depth;
    uint32_t node;
  };
  Places places(nodes_);
  std::string labels;
  std::vector<Range> children;
  const auto place_children = [&](Range range) {
    for (; range.begin < range.end && entries[range.begin].text.size() == range.depth; ++range.begin)
      nodes_[range.node].value = entries[range.begin].value;
    labels.clear();
    children.clear();
    for (size_t begin = range.begin; begin < range.end;) {
      const char label = entries[begin].text[range.depth];
      size_t end = begin;
      while (end < range.end && entries[end].text[range.depth] == label) ++end;
      labels.push_back(label);
      children.push_back({begin, end, range.depth + 1, 0});
      begin = end;
    }
    if (labels.empty()) return;
    const uint32_t base = nodes_[range.node].base = places.take(labels);
    for (size_t i = 0; i < labels.size(); ++i) {
      children[i].node = base + static_cast<uint8_t>(labels[i]);
      nodes_[children[i].node].parent = range.node;
    }
  };
  std::vector<Range> level{{0, entries.size(), 0, 0}}, next;
  for (size_t depth = 0; depth < kLevels; ++depth) {
    next.clear();
    for (const Range& range : level) {
      place_children(range);
      next.insert(next.end(), children.begin(), children.end());
    }
    level.swap(next);
  }
  for (const Range& top : level)
    for (std::vector<Range> open{top}; !open.empty();) {
      const Range range = open.back();
      open.pop_back();
      place_children(range);
      open.insert(open.end(), children.rbegin(), children.rend());
    }
  uint32_t last = 0;
  for (const Node& node : nodes_) last = std::max(last, node.base);
  nodes_.resize(last + kBytes);
  nodes_.shrink_to_fit();
}

}  // namespace orrery::text
