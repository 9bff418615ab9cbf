// A set of byte strings that is walked byte by byte: all those that a text begins with are found in one walk.
// A double array (Aoe, "An Efficient Digital Search Algorithm by Using a Double-Array Structure", 1989): a
// step takes one look-up, whatever the number of children.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace orrery::text {

class ByteTrie {
 public:
  struct Entry {
    std::string_view text;  // empty ones are left out
    int32_t value;          // 0 or more
  };
  /// Of equal texts the last one counts. The texts are not kept.
  explicit ByteTrie(std::vector<Entry> entries = {});

  /// found(bytes, value) for every string that `text` begins with, the shortest first.
  template <class Found>
  void walk(std::string_view text, Found found) const {
    walk_all(text, [&](size_t bytes, int32_t value) {
      if (value >= 0) found(bytes, value);
    });
  }
  /// step(bytes, value) for each byte on that way; value -1: no string ends there.
  template <class Step>
  void walk_all(std::string_view text, Step step) const {
    const Node* nodes = nodes_.data();
    uint32_t at = 0, base = nodes[0].base;
    for (size_t depth = 0; depth < text.size();) {
      const uint32_t next = base + static_cast<uint8_t>(text[depth]);
      const Node node = nodes[next];
      if (node.parent != at) return;
      at = next;
      base = node.base;
      step(++depth, node.value);
    }
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Node {
    uint32_t base = 0;        // the child by byte b is node base + b, if that one's parent is this one
    uint32_t parent = kNone;  // none: a free place, or the root, which is node 0
    int32_t value = -1;       // -1: no string ends here
  };
  class Places;
  std::vector<Node> nodes_;  // 256 more than any base
};

}  // namespace orrery::text
