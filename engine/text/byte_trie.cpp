#include "engine/text/byte_trie.h"

#include <algorithm>

namespace orrery::text {

/// Level by level, so that the children of a node lie together.
ByteTrie::ByteTrie(std::vector<Entry> entries) : ByteTrie() {
  std::erase_if(entries, [](const Entry& entry) { return entry.text.empty(); });
  std::stable_sort(entries.begin(), entries.end(),
                   [](const Entry& a, const Entry& b) { return a.text < b.text; });
  struct Range {  // of the entries that begin with the string of a node
    size_t begin, end, depth;
  };
  std::vector<Range> ranges;
  const auto add_children = [&](Range parent, const auto& added) {
    for (size_t begin = parent.begin; begin < parent.end;) {
      const char label = entries[begin].text[parent.depth];
      size_t end = begin;
      while (end < parent.end && entries[end].text[parent.depth] == label) ++end;
      added(label, static_cast<int32_t>(nodes_.size()));
      nodes_.emplace_back();
      labels_.push_back(label);
      ranges.push_back({begin, end, parent.depth + 1});
      begin = end;
    }
  };
  add_children({0, entries.size(), 0},
               [&](char label, int32_t node) { roots_[static_cast<uint8_t>(label)] = node; });
  for (size_t i = 0; i < nodes_.size(); ++i) {
    Range range = ranges[i];
    for (; range.begin < range.end && entries[range.begin].text.size() == range.depth; ++range.begin)
      nodes_[i].value = entries[range.begin].value;
    nodes_[i].first = static_cast<uint32_t>(nodes_.size());
    add_children(range, [](char, int32_t) {});
    nodes_[i].children = static_cast<uint32_t>(nodes_.size()) - nodes_[i].first;
  }
}

}  // namespace orrery::text
