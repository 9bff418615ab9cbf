// A set of byte strings that is walked byte by byte: all those that a text begins with are found in one walk.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace orrery::text {

class ByteTrie {
 public:
  struct Entry {
    std::string_view text;  // empty ones are left out
    int32_t value;          // 0 or more
  };
  ByteTrie() { roots_.fill(-1); }
  /// Of equal texts the last one counts. The texts are not kept.
  explicit ByteTrie(std::vector<Entry> entries);

  /// found(bytes, value) for every string that `text` begins with, the shortest first.
  template <class Found>
  void walk(std::string_view text, Found found) const {
    if (text.empty()) return;
    int32_t at = roots_[static_cast<uint8_t>(text[0])];
    for (size_t depth = 1; at >= 0; ++depth) {
      const Node& node = nodes_[static_cast<size_t>(at)];
      if (node.value >= 0) found(depth, node.value);
      if (depth >= text.size() || node.children == 0) return;
      const char* labels = labels_.data() + node.first;
      if (node.children == 1) {  // most are; a call would cost more
        if (*labels != text[depth]) return;
        at = static_cast<int32_t>(node.first);
        continue;
      }
      const void* label = std::memchr(labels, static_cast<uint8_t>(text[depth]), node.children);
      if (label == nullptr) return;
      at = static_cast<int32_t>(node.first + (static_cast<const char*>(label) - labels));
    }
  }

 private:
  struct Node {
    int32_t value = -1;     // -1: no string ends here
    uint32_t first = 0;     // its children are nodes first, first + 1, ..., in the order of their labels
    uint32_t children = 0;  // at most 256
  };
  std::array<int32_t, 256> roots_{};  // by first byte; -1: none
  std::vector<Node> nodes_;
  std::vector<char> labels_;  // the byte that leads to each node
};

}  // namespace orrery::text
